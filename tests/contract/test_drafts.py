"""A draft is the translation of greedy search, with every family of models."""

from bytenet.datasets import Vocabulary
from bytenet.decoding import Translator
from bytenet.decoding.searches.draft import DraftSearch

from .cases import FAMILY_CASES, VOCAB_SIZE, parametrize
from .varied_model import varied

VOCABULARY = Vocabulary([chr(ord("a") + i) for i in range(VOCAB_SIZE - 3)])
LINES = ["abc", "cab", "aabbccab", "b"]


@parametrize(FAMILY_CASES)
def test_the_parts_of_a_draft_are_the_translation_of_greedy_search(case):
    model = varied(case.config)
    translator = Translator(model, VOCABULARY, beam_size=1, max_length=10, jit_compile=False)
    draft = DraftSearch(translator, part_symbols=3)
    expected = [translations[0].text for translations in translator.translate(LINES)]
    assert any(len(text) > 3 for text in expected)
    for line, text in zip(LINES, expected, strict=True):
        parts = list(draft(line))
        assert "".join(parts) == text
        assert all(len(part) <= 3 for part in parts)
