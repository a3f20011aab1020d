"""Cross entropy by hand, its gradient (Madsen 2017, appendix B.1), its averages and its smoothing."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.training.losses import RDropCrossEntropy, SentenceCrossEntropy, sentence_cross_entropy

# Three sentences of 3, 1 and 0 characters.
TARGET_IDS = np.array([[2, 3, 1], [1, 0, 0], [0, 0, 0]], "int32")
# Softmax turns logarithms into these probabilities.
PROBABILITIES = np.array(
    [
        [[0.1, 0.2, 0.5, 0.2], [0.1, 0.1, 0.4, 0.4], [0.0625, 0.25, 0.5, 0.1875]],
        [[0.25, 0.125, 0.5, 0.125], [0.97, 0.01, 0.01, 0.01], [0.1, 0.7, 0.1, 0.1]],
        [[0.25, 0.25, 0.25, 0.25], [0.97, 0.01, 0.01, 0.01], [0.1, 0.7, 0.1, 0.1]],
    ]
)
LOGITS = (np.log(PROBABILITIES) + 3).astype("float32")
NATS = [-np.log(0.5 * 0.4 * 0.25), -np.log(0.125), 0]


def test_losses_of_sentences_equal_calculation_by_hand():
    np.testing.assert_allclose(sentence_cross_entropy(LOGITS, TARGET_IDS), NATS, rtol=1e-5)


@settings(max_examples=20)
@given(smoothing=st.floats(0, 0.9))
def test_label_smoothing_is_cross_entropy_with_a_mixed_target(smoothing):
    mixed = (1 - smoothing) * np.eye(4)[TARGET_IDS] + smoothing / 4
    expected = -(mixed * np.log(PROBABILITIES)).sum(axis=-1) * (TARGET_IDS != 0)
    losses = sentence_cross_entropy(LOGITS, TARGET_IDS, smoothing)
    np.testing.assert_allclose(losses, expected.sum(axis=-1), rtol=1e-5)


@pytest.mark.parametrize(
    ("smoothing", "smoothed", "least"),
    [
        (0.1, 0.502618, 0.348780),
        # Spread over the V - 1 other symbols only, as in fairseq and tensor2tensor, .1 is .1 V / (V - 1) here.
        (0.1 * 4 / 3, 0.551266, 0.434944),
    ],
)
def test_label_smoothing_of_both_definitions_equals_calculation_by_hand(smoothing, smoothed, least):
    probabilities = np.array([[[0.7, 0.1, 0.1, 0.1]], [[1 - 0.75 * smoothing, *[smoothing / 4] * 3]]])
    logits, target_ids = np.log(probabilities[..., [1, 0, 2, 3]]), np.array([[1], [1]], "int32")  # 0 is padding
    losses = sentence_cross_entropy(logits, target_ids, smoothing)
    np.testing.assert_allclose(losses, [smoothed, least], atol=1e-6)
    np.testing.assert_allclose(sentence_cross_entropy(logits[:1], target_ids[:1]), [0.356675], atol=1e-6)


def test_gradient_is_softmax_minus_target_and_zero_at_padding():
    variable = tf.Variable(LOGITS)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(sentence_cross_entropy(variable, TARGET_IDS))
    expected = (PROBABILITIES - np.eye(4)[TARGET_IDS]) * (TARGET_IDS != 0)[..., None]
    np.testing.assert_allclose(tape.gradient(loss, variable), expected, atol=1e-6)


def test_large_logits_stay_finite():
    logits = np.array([[[0, 1e4, 0, -1e4]]], "float32")
    np.testing.assert_allclose(sentence_cross_entropy(logits, np.array([[1]], "int32")), [0])
    np.testing.assert_allclose(sentence_cross_entropy(logits, np.array([[3]], "int32")), [2e4])


def test_symbol_of_probability_zero_at_padding_gives_finite_losses_and_gradients():
    probabilities = np.array([[[0, 0.7, 0.3], [0, 0.5, 0.5]]], "float32")
    logits = tf.Variable(np.ma.log(probabilities).filled(-np.inf))
    with tf.GradientTape() as tape:
        losses = sentence_cross_entropy(logits, np.array([[1, 0]], "int32"))  # the second step is padding
    np.testing.assert_allclose(losses, [-np.log(0.7)], rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(losses, logits), [[[0, -0.3, 0.3], [0, 0, 0]]], atol=1e-6)


def test_half_precision_logits_are_summed_in_single_precision():
    logits = np.zeros((1, 3000, 4), "float16")
    losses = sentence_cross_entropy(logits, np.ones((1, 3000), "int32"))
    assert keras.backend.standardize_dtype(losses.dtype) == "float32"
    np.testing.assert_allclose(losses, [3000 * np.log(4)], rtol=1e-5)


@pytest.mark.parametrize("count", [3, 4])  # number of sentences, number of real characters
def test_weighted_keras_loss_is_the_mean_over_sentences_or_characters(count):
    # The training pipeline gives weights of rows / N, where N is the number of sentences or characters.
    weights = np.full(3, 3 / count, "float32")
    loss = SentenceCrossEntropy()(TARGET_IDS, LOGITS, sample_weight=weights)
    np.testing.assert_allclose(loss, sum(NATS) / count, rtol=1e-5)


def test_padding_alone_gives_zero():
    assert float(SentenceCrossEntropy()(np.zeros_like(TARGET_IDS), LOGITS)) == 0.0


def test_keras_loss_gives_one_value_per_sentence():
    np.testing.assert_allclose(SentenceCrossEntropy().call(TARGET_IDS, LOGITS), NATS, rtol=1e-5)
    smoothed = SentenceCrossEntropy(label_smoothing=0.2).call(TARGET_IDS, LOGITS)
    np.testing.assert_allclose(smoothed, sentence_cross_entropy(LOGITS, TARGET_IDS, 0.2), rtol=1e-6)


def test_keras_loss_round_trip():
    loss = keras.losses.deserialize(keras.losses.serialize(SentenceCrossEntropy(label_smoothing=0.1)))
    assert type(loss) is SentenceCrossEntropy
    assert (loss.label_smoothing, loss.name) == (0.1, "cross_entropy")


def test_r_drop_equals_calculation_by_hand():
    other = np.roll(PROBABILITIES, 1, axis=-1)
    first, second = np.log(PROBABILITIES), np.log(other)
    divergences = (PROBABILITIES * (first - second) + other * (second - first)).sum(axis=-1)
    other_nats = -np.take_along_axis(second, TARGET_IDS[..., None], axis=-1)[..., 0] * (TARGET_IDS != 0)
    expected = (NATS + other_nats.sum(axis=-1)) / 2 + 5 / 4 * (divergences * (TARGET_IDS != 0)).sum(axis=-1)
    both = np.stack([LOGITS, np.roll(LOGITS, 1, axis=-1)], axis=1)
    np.testing.assert_allclose(RDropCrossEntropy(5.0).call(TARGET_IDS, both), expected, rtol=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_r_drop_of_equal_predictions_and_of_one_prediction_is_the_cross_entropy(smoothing):
    loss, expected = RDropCrossEntropy(5.0, smoothing), sentence_cross_entropy(LOGITS, TARGET_IDS, smoothing)
    both = np.stack([LOGITS, LOGITS], axis=1)
    np.testing.assert_allclose(loss.call(TARGET_IDS, both), expected, rtol=1e-5)
    np.testing.assert_allclose(loss.call(TARGET_IDS, LOGITS), expected, rtol=1e-6)


def test_r_drop_round_trip():
    loss = keras.losses.deserialize(keras.losses.serialize(RDropCrossEntropy(5.0, label_smoothing=0.1)))
    assert type(loss) is RDropCrossEntropy
    assert (loss.weight, loss.label_smoothing) == (5.0, 0.1)
