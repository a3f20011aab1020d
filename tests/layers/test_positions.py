import numpy as np
import pytest
from keras import ops

from bytenet.layers.positions import KINDS, PositionEncoding

from .random_weights import random_values


def encoded(kind, length=4, dim=4, **arguments):
    layer = PositionEncoding(kind, **arguments)
    layer.build((None, None, dim))
    return ops.convert_to_numpy(layer(np.zeros((1, length, dim), "float32")))[0]


def test_sinusoids_are_those_of_the_paper():
    expected = [
        [0, 1, 0, 1],
        [0.841471, 0.540302, 0.01, 0.99995],
        [0.909297, -0.416147, 0.019999, 0.9998],
        [0.14112, -0.989992, 0.029996, 0.99955],
    ]
    np.testing.assert_allclose(encoded("sinusoidal"), expected, atol=1e-6)


def test_other_layout_has_all_sines_first():
    np.testing.assert_allclose(encoded("sinusoidal_halves")[1], [0.841471, 0.0001, 0.540302, 1], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [4, 7])
def test_step_adds_the_vector_of_its_position(kind, dim):
    layer = PositionEncoding(kind, max_length=30)
    inputs = random_values(2, 30, dim)
    layer.build(inputs.shape)
    outputs = ops.convert_to_numpy(layer(inputs))
    assert (np.abs(outputs - inputs).max() > 0.01) == (kind != "none")
    for position in (0, 1, 17, 29):
        np.testing.assert_allclose(layer.step(inputs[:, position], position), outputs[:, position], atol=1e-6)


def test_sequence_longer_than_the_learned_positions_is_refused():
    assert encoded("learned", length=5, max_length=5).shape == (5, 4)
    with pytest.raises(ValueError, match="6 steps, but the model has learned 5 positions"):
        encoded("learned", length=6, max_length=5)


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="known are sinusoidal"):
        PositionEncoding("sine")


@pytest.mark.parametrize("position", [-1, 5])
def test_step_without_a_learned_position_is_refused(position):
    layer = PositionEncoding("learned", max_length=5)
    inputs = random_values(2, 4)
    layer.build((None, None, 4))
    with pytest.raises(ValueError, match=f"position is {position}, .* learned 5 positions; expected 0 to 4"):
        layer.step(inputs, position)
    endless = PositionEncoding("sinusoidal", max_length=5)
    endless.build((None, None, 4))
    assert endless.step(inputs, 5).shape == (2, 4)
