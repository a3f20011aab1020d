"""Likelihoods of given translations."""

import numpy as np
import pytest

from bytenet.datasets import Vocabulary
from bytenet.decoding import Translator, log_probabilities
from bytenet.errors import InputError

VOCABULARY = Vocabulary("abcd e")
SOURCES = ["abba", "a bad cab" * 5, "", "dad", "bead"]
TARGETS = ["bed", "a dab", "a", "", "ace ace"]


def test_equal_to_one_pair_at_a_time_whatever_the_batch(recurrent_model, sequence_log_probabilities):
    model = recurrent_model(VOCABULARY.size, seed=5)
    found = log_probabilities(model, VOCABULARY, SOURCES, TARGETS, batch_size=3)
    for index, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        ids = VOCABULARY.encode(target)
        [expected] = sequence_log_probabilities(model, VOCABULARY.encode(source), [tuple(ids)])
        assert found.log_probabilities[index] == pytest.approx(expected, abs=1e-4)
    assert found.num_characters.tolist() == [4, 6, 2, 1, 8]
    np.testing.assert_allclose(found.bits_per_character, -found.log_probabilities / np.log(2) / [4, 6, 2, 1, 8])


def test_a_translation_scores_what_the_search_said(recurrent_model):
    model = recurrent_model(VOCABULARY.size, seed=6, end_bias=1.0)
    lines = ["abba", "a bad cab", "dad"]
    hypotheses = [best for [best] in Translator(model, VOCABULARY, beam_size=4).translate(lines)]
    assert all(hypothesis.ended for hypothesis in hypotheses)
    found = log_probabilities(model, VOCABULARY, lines, [hypothesis.text for hypothesis in hypotheses])
    expected = [hypothesis.log_probability for hypothesis in hypotheses]
    np.testing.assert_allclose(found.log_probabilities, expected, atol=1e-4)


def test_unequal_numbers_are_refused_and_none_is_fine(recurrent_model):
    model = recurrent_model(VOCABULARY.size)
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        log_probabilities(model, VOCABULARY, ["a", "b"], ["a"])
    assert log_probabilities(model, VOCABULARY, [], []).log_probabilities.shape == (0,)
