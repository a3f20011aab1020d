"""Likelihoods of given translations."""

import numpy as np
import pytest
import tensorflow as tf

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.config.families.transformer import TransformerConfig
from bytenet.datasets import Vocabulary
from bytenet.decoding import log_probabilities
from bytenet.decoding.batches.batching import pad_batch
from bytenet.decoding.scoring import stepped_log_probabilities, teacher_forced_log_probabilities
from bytenet.errors import InputError, ModelError
from bytenet.models import build_model

from .inputs import VOCABULARY

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


def test_scores_by_steps_equal_scores_of_one_pass(recurrent_model):
    model = recurrent_model(VOCABULARY.size, seed=5)
    ids = [[VOCABULARY.encode(text) for text in texts] for texts in (SOURCES, TARGETS)]
    source_ids, target_ids = (pad_batch(side, len(SOURCES), 50) for side in ids)
    inputs = {"source_ids": tf.constant(source_ids), "target_ids": tf.constant(target_ids)}
    stepped, expected = stepped_log_probabilities(model, inputs), teacher_forced_log_probabilities(model, inputs)
    assert len(set(expected.numpy())) == len(SOURCES)
    np.testing.assert_allclose(stepped, expected, atol=1e-4)


def test_unequal_numbers_are_refused_and_empty_input_is_accepted(recurrent_model):
    model = recurrent_model(VOCABULARY.size)
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        log_probabilities(model, VOCABULARY, ["a", "b"], ["a"])
    assert log_probabilities(model, VOCABULARY, [], []).log_probabilities.shape == (0,)


def test_text_that_cannot_be_scored_is_named_by_its_line(recurrent_model):
    strict = Vocabulary("abcd e", unknown="error")
    with pytest.raises(InputError, match=r"'x'.* It is in line 2 of the target texts\."):
        log_probabilities(recurrent_model(strict.size), strict, ["a", "b"], ["a" * 99, "ax"])
    config = TransformerConfig(dim=4, heads=1, encoder_layers=1, decoder_layers=1, positions="learned", max_positions=8)
    with pytest.raises(InputError, match=r"Line 3 of the source texts has 9 symbols .* at most 8"):
        log_probabilities(build_model(config, VOCABULARY.size), VOCABULARY, ["", "a", "a bad ca"], ["a", "a", "a"])


def test_a_model_that_is_damaged_gives_no_score():
    model = build_model(ByteNetConfig(dim=4, num_sets=1, dilations=(1,)), VOCABULARY.size)
    model.trainable_variables[0].assign(np.full(model.trainable_variables[0].shape, np.nan))
    with pytest.raises(ModelError, match="a probability that is not a number: its weights are damaged"):
        log_probabilities(model, VOCABULARY, SOURCES, TARGETS)


def test_blank_source_is_an_empty_one(recurrent_model):
    strict = Vocabulary("abcd e", unknown="error")
    scores = log_probabilities(recurrent_model(strict.size), strict, ["\u200b", " ", ""], ["a", "a", "a"])
    assert scores.log_probabilities.tolist() == pytest.approx([scores.log_probabilities[2]] * 3)
