"""Attention of recurrent decoders equals the worked examples. Windows and masks hide symbols."""

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.layers.recurrent.context_decoder import maxout
from bytenet.layers.recurrent.scores import SourceAlignment

ENCODED = np.array([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]], "float32")
IDS = np.array([[5, 6, 1]])


def make_attention(score, units=2, states=2, encoded=2, **arguments):
    attention = SourceAlignment(score, units, **arguments)
    attention.build(((None, None, states), (None, None, encoded)))
    return attention


def weights_for(attention, state, encoded=ENCODED, ids=IDS, positions=(0,)):
    """The weights of one state for the symbols of one source."""
    memory = attention.remember(encoded, ids)
    window = attention.window_of(np.array(positions), memory)
    return convert_to_numpy(attention(np.array([[state]], "float32"), memory, window))[0, 0]


def bahdanau_example():
    attention = make_attention("additive")
    attention.state_map.kernel.assign(np.eye(2))
    attention.key_map.kernel.assign(np.diag([0.5, -0.5]))
    attention.vector.assign([[1.0], [2.0]])
    return attention


def test_additive_scores_equal_the_worked_example():
    attention = bahdanau_example()
    weights = weights_for(attention, [0.5, -0.5])
    np.testing.assert_allclose(weights, [0.511092, 0.208121, 0.280787], atol=1e-6)
    np.testing.assert_allclose(weights @ ENCODED[0], [0.791879, 0.488908], atol=1e-6)
    masked = weights_for(attention, [0.5, -0.5], ids=np.array([[5, 1, 0]]))
    np.testing.assert_allclose(masked, [0.710627, 0.289373, 0.0], atol=1e-6)


def test_bias_of_additive_scores_is_added_inside_the_hidden_layer():
    attention = bahdanau_example()
    attention.key_map.bias.assign([0.5, -0.5])
    np.testing.assert_allclose(
        weights_for(attention, [0.0, 0.0]), weights_for(bahdanau_example(), [0.5, -0.5]), atol=1e-6
    )


def test_vector_of_zeros_gives_equal_weights_to_real_symbols():
    attention = make_attention("additive", initializer="bahdanau")
    np.testing.assert_array_equal(attention.vector, np.zeros((2, 1)))
    weights = weights_for(attention, [0.3, -2.0], ids=np.array([[4, 1, 0]]))
    np.testing.assert_allclose(weights, [0.5, 0.5, 0.0], atol=1e-6)


def test_dot_and_general_scores_equal_the_worked_example():
    weights = weights_for(make_attention("dot"), [1.0, 0.0])
    np.testing.assert_allclose(weights, [0.422319, 0.155362, 0.422319], atol=1e-6)
    np.testing.assert_allclose(weights @ ENCODED[0], [0.844638, 0.577681], atol=1e-6)
    general = make_attention("general")
    general.key_map.kernel.assign([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(weights_for(general, [1.0, 0.0]), [0.155362, 0.422319, 0.422319], atol=1e-6)


def test_concat_equals_one_matrix_for_state_and_symbol_side_by_side():
    attention, random = make_attention("concat", units=4), np.random.default_rng(0)
    matrix, vector, state = random.normal(size=(4, 4)), random.normal(size=4), np.array([0.3, -0.8])
    attention.state_map.kernel.assign(matrix[:2])
    attention.key_map.kernel.assign(matrix[2:])
    attention.vector.assign(vector[:, None])
    scores = [vector @ np.tanh(np.concatenate([state, symbol]) @ matrix) for symbol in ENCODED[0]]
    np.testing.assert_allclose(weights_for(attention, state), np.exp(scores) / np.exp(scores).sum(), atol=1e-6)


def test_location_scores_depend_only_on_state_and_position():
    attention = make_attention("location", max_positions=4)
    kernel = np.random.default_rng(0).normal(size=(2, 4))
    attention.state_map.kernel.assign(kernel)
    scores = (np.array([0.3, -0.8]) @ kernel)[:3]
    weights = weights_for(attention, [0.3, -0.8])
    np.testing.assert_allclose(weights, np.exp(scores) / np.exp(scores).sum(), atol=1e-6)
    np.testing.assert_array_equal(weights_for(attention, [0.3, -0.8], encoded=5 * ENCODED), weights)
    with pytest.raises(ValueError, match="A source has 5 symbols, but the model has learned scores for 4"):
        weights_for(attention, [0.3, -0.8], encoded=np.zeros((1, 5, 2), "float32"), ids=np.ones((1, 5), int))


def predictive_example(radius):
    """One wide, with W_p h = .5 before the tanh and v = 1. All scores are equal."""
    attention = make_attention("dot", states=1, encoded=1, window="predictive", radius=radius)
    attention.position_map.kernel.assign([[0.5]])
    attention.position_vector.kernel.assign([[1.0]])
    return attention


def test_weights_near_a_predicted_position_equal_the_worked_example():
    """p = 5 σ(tanh .5) = 3.067582. The window of radius 2 has the symbols 2, 3 and 4, counted from 0."""
    symbols, ids = np.zeros((1, 7, 1), "float32"), np.array([[5, 5, 5, 5, 1, 0, 0]])  # padding does not move p
    factors = np.array([0.009050, 0.117956, 0.565602, 0.997719, 0.647458])
    weights = weights_for(predictive_example(radius=2), [1.0], symbols, ids)
    np.testing.assert_allclose(weights, [0, 0, *factors[2:] / 3, 0, 0], atol=1e-6)
    wide = weights_for(predictive_example(radius=4), [1.0], symbols, ids)
    # With radius 4, the Gaussian is twice as wide: the fourth root of the factors.
    np.testing.assert_allclose(wide, [*factors**0.25 / 5, 0, 0], atol=1e-4)


@pytest.mark.parametrize(("position", "expected"), [(0, [0, 1]), (2, [1, 2, 3]), (4, [3, 4]), (30, [3, 4])])
def test_window_moves_with_the_steps_up_to_the_last_symbol(position, expected):
    attention = make_attention("dot", states=1, encoded=1, window="monotonic", radius=1)
    symbols, ids = np.zeros((1, 7, 1), "float32"), np.array([[5, 5, 5, 5, 1, 0, 0]])
    weights = weights_for(attention, [1.0], symbols, ids, positions=(position,))
    np.testing.assert_allclose(
        weights, [1 / len(expected) if index in expected else 0 for index in range(7)], atol=1e-6
    )


@pytest.mark.parametrize("window", ["global", "monotonic", "predictive"])
def test_row_of_padding_alone_gives_finite_weights(window):
    attention = make_attention("general", window=window)
    assert np.isfinite(weights_for(attention, [1.0, 2.0], ids=np.zeros((1, 3), int), positions=(5,))).all()


def test_maxout_takes_the_larger_of_neighbouring_channels():
    np.testing.assert_array_equal(maxout(np.array([[[1.0, 3.0, -2.0, -5.0]]])), [[[3.0, -2.0]]])


def test_unknown_scores_and_windows_are_refused():
    with pytest.raises(ValueError, match="score is 'cosine'"):
        SourceAlignment("cosine", 2)
    with pytest.raises(ValueError, match="window 'local'"):
        SourceAlignment("dot", 2, window="local")
