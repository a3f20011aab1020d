import io
import json
import sys

import pytest

from bytenet.cli.common.json_output import print_json


@pytest.mark.parametrize(
    ("encoding", "is_escaped"),
    [("utf-8", False), ("UTF8", False), ("utf_8", False), ("iso-8859-1", True), ("ascii", True), ("cp1252", True)],
)
def test_json_suits_the_encoding_of_the_output(encoding, is_escaped, monkeypatch):
    content = {"text": "“schön” → ş", "count": 2}
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding=encoding))
    print_json(content)
    sys.stdout.flush()
    text = output.getvalue().decode(encoding)
    assert json.loads(text) == content
    assert ("\\u" in text) == is_escaped
    assert text.count("\n") == 4
    assert text.endswith("}\n")


def test_json_for_a_closed_output_is_dropped(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    print_json({"count": 2})
