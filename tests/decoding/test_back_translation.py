"""Unfinished back-translations, and with which searches they go on."""

import pytest

from bytenet.decoding import Translator
from bytenet.decoding.back_translation import SavedTranslations
from bytenet.errors import InputError

from .inputs import VOCABULARY


@pytest.fixture
def saved(model, tmp_path):
    """A function that opens the saved translations of a translator with some options."""
    weights = tmp_path / "weights"
    weights.write_bytes(b"weights")

    def open_saved(**options):
        translator = Translator(model, VOCABULARY, beam_size=2, **options)
        return SavedTranslations(tmp_path / "translations", [weights], translator, ["abba", "dad"])

    return open_saved


def test_translations_go_on_with_another_batch_size(saved):
    saved(batch_size=8).add("bed", True)
    assert saved(batch_size=2).translations == [("bed", True)]


@pytest.mark.parametrize("options", [{"min_length": 3}, {"dictionary": {"a": "b"}}, {"forbidden_ids": (0, 2, 3)}])
def test_translations_of_another_search_are_refused(saved, options):
    saved().add("bed", True)
    with pytest.raises(InputError, match="another model, another search or other texts"):
        saved(**options)
