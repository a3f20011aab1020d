"""The probability of translating forth and back equals sums in double precision. Equal texts are recognised."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import ByteNet
from bytenet.training.tasks.marginal import expected_back, first_of_equals, log_likelihoods, log_marginal

NEVER = -np.inf


@st.composite
def beams(draw):
    """log P(ŷ|x), log P(x|ŷ) and which hypotheses count: the first of each row, and random others."""
    rows, beam_size = draw(st.integers(1, 3)), draw(st.integers(1, 5))

    def numbers():
        drawn = [draw(st.floats(-200, 0, width=32)) for _ in range(rows * beam_size)]
        return np.array(drawn, np.float32).reshape(rows, beam_size)

    counts = np.array([draw(st.booleans()) for _ in range(rows * beam_size)]).reshape(rows, beam_size)
    counts[:, 0] = True
    return numbers(), numbers(), counts


def marginal_in_double_precision(forth, back, counts):
    """Both results of `log_marginal`, from eq. 2.7.3 with the largest term factored out (C.2.3)."""
    values, shares = [], np.zeros(forth.shape)
    for row, (ours, theirs, which) in enumerate(zip(forth.astype(float), back.astype(float), counts, strict=True)):
        joint = (ours + theirs)[which]
        terms = np.exp(joint - joint.max())
        values.append(joint.max() + np.log(terms.sum()))
        shares[row, which] = terms / terms.sum()
    return np.array(values), shares


@settings(max_examples=60)
@given(beams())
def test_marginal_is_the_log_of_the_sum_over_counted_hypotheses(beam):
    values, shares = map(convert_to_numpy, log_marginal(*beam))
    expected_values, expected_shares = marginal_in_double_precision(*beam)
    np.testing.assert_allclose(values, expected_values, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(shares, expected_shares, atol=1e-4)
    assert not shares[~beam[2]].any()


def test_marginal_of_an_example_equals_calculation_by_hand():
    forth, back = np.log([[0.5, 0.25, 0.125]]), np.log([[0.1, 0.6, 0.8]])
    values, shares = log_marginal(*np.float32([forth, back]), np.array([[True, True, False]]))
    assert float(values[0]) == pytest.approx(np.log(0.05 + 0.15))
    np.testing.assert_allclose(shares, [[0.25, 0.75, 0.0]], rtol=1e-6)


@settings(max_examples=40)
@given(beams())
def test_shares_are_the_gradient_of_the_marginal(beam):
    forth, back, counts = beam
    variables = [tf.Variable(forth), tf.Variable(back)]
    with tf.GradientTape() as tape:
        values, shares = log_marginal(*variables, counts)
    for gradient in tape.gradient(values, variables):
        np.testing.assert_allclose(gradient, shares, atol=1e-5)


@pytest.mark.parametrize("marginal_of", [log_marginal, expected_back])
def test_hypotheses_that_do_not_exist_change_nothing(marginal_of):
    forth, back = np.float32([[-1.0, -2.0, NEVER, NEVER]]), np.float32([[-3.0, -0.5, -7.0, NEVER]])
    counts = forth > NEVER
    values, shares = marginal_of(forth, back, counts)
    fewer_values, fewer_shares = marginal_of(forth[:, :2], back[:, :2], counts[:, :2])
    np.testing.assert_allclose(values, fewer_values, rtol=1e-6)
    np.testing.assert_allclose(shares[:, :2], fewer_shares, rtol=1e-6)
    assert not np.any(shares[:, 2:])


@settings(max_examples=40)
@given(beams())
def test_back_translation_weighs_only_by_probabilities_of_hypotheses(beam):
    forth, back, counts = beam
    values, shares = map(convert_to_numpy, expected_back(*beam))
    weights = np.where(counts, np.exp(forth.astype(float) - np.where(counts, forth, NEVER).max(1, keepdims=True)), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, weights, atol=1e-5)
    np.testing.assert_allclose(values, (weights * back).sum(axis=1), rtol=1e-4, atol=1e-4)


def test_back_translation_of_an_example_equals_calculation_by_hand():
    forth, back = np.float32(np.log([[0.3, 0.1, 0.6]])), np.float32([[-1.0, -5.0, NEVER]])
    values, shares = expected_back(forth, back, np.array([[True, True, False]]))
    assert float(values[0]) == pytest.approx(0.75 * -1 + 0.25 * -5)
    np.testing.assert_allclose(shares, [[0.75, 0.25, 0.0]], rtol=1e-6)


def test_first_of_equal_texts_counts_regardless_of_null_symbols():
    hypotheses = np.array(
        [
            [[2, 3, 1, 0], [2, 0, 3, 1], [3, 2, 1, 0], [0, 2, 3, 1]],
            [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]],
            [[2, 2, 0, 0], [2, 0, 0, 0], [2, 2, 1, 0], [2, 0, 0, 2]],
        ]
    )
    expected = [[True, False, True, False], [True, True, False, False], [True, True, True, False]]
    np.testing.assert_array_equal(first_of_equals(hypotheses), expected)


@settings(max_examples=60)
@given(st.data())
def test_first_of_equals_keeps_one_of_each_text(data):
    beam_size, length = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    symbols = data.draw(st.lists(st.integers(0, 2), min_size=beam_size * length, max_size=beam_size * length))
    hypotheses = np.array(symbols, np.int32).reshape(1, beam_size, length)
    seen, expected = set(), []
    for hypothesis in hypotheses[0]:
        text = tuple(hypothesis[hypothesis != 0])
        expected.append(text not in seen)
        seen.add(text)
    np.testing.assert_array_equal(first_of_equals(hypotheses)[0], expected)


def test_likelihoods_are_sums_over_the_real_symbols_of_every_target():
    keras.utils.set_random_seed(4)
    model = ByteNet(ByteNetConfig(dim=4, num_sets=1, dilations=(1,)), vocab_size=5)
    sources, targets = np.array([[2, 3, 1], [4, 1, 0]]), np.array([[3, 1, 0], [1, 0, 0], [4, 0, 1], [2, 3, 1]])
    found = log_likelihoods(model, sources, targets, training=False)
    logits = model({"source_ids": np.repeat(sources, 2, axis=0), "target_ids": targets})
    log_probabilities = convert_to_numpy(keras.ops.log_softmax(logits)).astype(float)
    # The thesis's searches may write a 0 inside a text. It is no symbol of the text.
    expected = [
        sum(log_probabilities[row, place, symbol] for place, symbol in enumerate(target) if symbol)
        for row, target in enumerate(targets)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
