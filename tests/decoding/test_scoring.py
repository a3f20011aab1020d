"""Likelihoods of given translations."""

import numpy as np
import pytest

from bytenet.datasets import Vocabulary
from bytenet.decoding import log_probabilities
from bytenet.errors import InputError

VOCABULARY = Vocabulary("abcd e")
SOURCES = ["abba", "a bad cab" * 5, "", "dad", "bead"]
TARGETS = ["bed", "a dab", "a", "", "ace ace"]


def test_scores_of_a_batch_equal_scores_of_single_pairs(recurrent_model, sequence_log_probabilities):
    model = recurrent_model(VOCABULARY.size, seed=5)
    scores = log_probabilities(model, VOCABULARY, SOURCES, TARGETS, batch_size=3)
    for index, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        ids = VOCABULARY.encode(target)
        [expected] = sequence_log_probabilities(model, VOCABULARY.encode(source), [tuple(ids)])
        assert scores.log_probabilities[index] == pytest.approx(expected, abs=1e-4)
    assert scores.num_characters.tolist() == [4, 6, 2, 1, 8]
    np.testing.assert_allclose(scores.bits_per_character, -scores.log_probabilities / np.log(2) / [4, 6, 2, 1, 8])


def test_unequal_numbers_are_refused_and_empty_input_is_accepted(recurrent_model):
    model = recurrent_model(VOCABULARY.size)
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        log_probabilities(model, VOCABULARY, ["a", "b"], ["a"])
    assert log_probabilities(model, VOCABULARY, [], []).log_probabilities.shape == (0,)
