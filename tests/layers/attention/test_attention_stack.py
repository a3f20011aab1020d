"""Stacks of self-attention: the order of their inputs, and dropout of their sub-layers."""

from functools import partial

import keras
import numpy as np
import pytest

from bytenet.layers.attention.stack import AttentionLayer, AttentionStack
from bytenet.layers.positions import PositionEncoding

from ..random_weights import random_values


@pytest.mark.parametrize("order", ["pre", "post"])
def test_permuted_inputs_give_permuted_outputs_without_positions(order):
    keras.utils.set_random_seed(1)
    stack = AttentionStack(2, order, heads=2, head_dim=4, feed_forward_dim=8)
    stack.build((None, None, 8))
    inputs = random_values(1, 5, 8)
    permutation = [3, 0, 4, 1, 2]

    def differences(values, permuted_values):
        outputs, permuted = (stack(one, np.float32(0))[0] for one in (values, permuted_values))
        return np.abs(permuted - keras.ops.take(outputs, permutation, axis=1))

    assert differences(inputs, inputs[:, permutation]).max() < 1e-5
    positions = PositionEncoding("sinusoidal")
    positions.build(inputs.shape)
    assert differences(positions(inputs), positions(inputs[:, permutation])).max() > 1e-2


@pytest.mark.parametrize("order", ["pre", "post"])
def test_without_the_outputs_of_sublayers_inputs_are_normalised_alone(order):
    keras.utils.set_random_seed(1)
    stack = AttentionStack(2, order, heads=2, head_dim=4, feed_forward_dim=8, dropout=0.99999)
    stack.build((None, None, 8))
    inputs = random_values(2, 5, 8)
    expected = (inputs - inputs.mean(axis=-1, keepdims=True)) / inputs.std(axis=-1, keepdims=True)
    np.testing.assert_allclose(stack(inputs, np.float32(0), training=True)[0], expected, atol=1e-4)
    assert np.abs(stack(inputs, np.float32(0))[0] - expected).max() > 1e-2


@pytest.mark.parametrize("make", [AttentionLayer, partial(AttentionStack, 1)])
def test_unknown_order_is_refused(make):
    with pytest.raises(ValueError, match="Unknown normalization_order 'Pre'; known are pre, post"):
        make(heads=1, head_dim=2, feed_forward_dim=2, normalization_order="Pre")
