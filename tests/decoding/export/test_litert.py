"""A model that LiteRT cannot have is refused, and no file is written."""

from unittest.mock import Mock

import pytest
import tensorflow as tf

from bytenet.decoding.export import litert
from bytenet.errors import InputError

from .test_saved_model import make_translator


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("a traceback\n  error: 'tf.Foo' op is not known\nmore"), "error: 'tf.Foo' op is not known"),
        (ValueError("too large"), "too large"),
    ],
)
def test_an_operation_that_litert_does_not_have_is_named(monkeypatch, tmp_path, error, reason):
    converter = Mock(convert=Mock(side_effect=error))
    monkeypatch.setattr(tf.lite.TFLiteConverter, "from_saved_model", lambda *_, **__: converter)
    with pytest.raises(InputError, match=rf"^This bytenet cannot become a LiteRT model: {reason}\. Export it with"):
        litert.export_litert(make_translator(), tmp_path / "a.tflite")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_litert_cannot_score_with_is_refused():
    content = litert.litert_model(make_translator())  # it has no signature for scores
    with pytest.raises(InputError, match=r"^LiteRT cannot score translations with this model: .* --engine full\.$"):
        litert._check_score(content)
