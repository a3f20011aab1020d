"""Lines are normalised like the training text before they are translated or scored."""

import unicodedata

from bytenet.datasets import Vocabulary
from bytenet.decoding import Translator, log_probabilities

COMPOSED = ["über", "übst"]
DECOMPOSED = [unicodedata.normalize("NFD", line) for line in COMPOSED]
VOCABULARY = Vocabulary.from_texts(COMPOSED)


def test_decomposed_lines_are_translated_like_composed_lines(recurrent_model):
    translator = Translator(recurrent_model(VOCABULARY.size, seed=3, extra_length=2), VOCABULARY, beam_size=2)
    assert list(translator.translate(DECOMPOSED)) == list(translator.translate(COMPOSED))


def test_decomposed_lines_are_scored_like_composed_lines(recurrent_model):
    model = recurrent_model(VOCABULARY.size, seed=3)
    composed, decomposed = (
        log_probabilities(model, VOCABULARY, lines, lines[::-1]) for lines in (COMPOSED, DECOMPOSED)
    )
    assert decomposed.log_probabilities.tolist() == composed.log_probabilities.tolist()
    assert decomposed.num_characters.tolist() == composed.num_characters.tolist()
