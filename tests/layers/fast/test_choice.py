"""Networks get fast layers, which compute the same as plain ones."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from bytenet.layers import ResidualStack
from bytenet.layers.convolution import DilatedConvolution, convolve_taps
from bytenet.layers.fast import make_dropout, use_tap_products
from bytenet.layers.fast.tap_products import product_of_taps
from bytenet.private_api import all_layers

from ...contract.plain_layers import plain_layers
from ..random_weights import random_values, with_random_weights

ARGUMENTS = {"dim": 8, "kernel_size": 3, "causal": False, "activation": "relu"}


def make_stack(normalization, dropout=0.0, activation="relu"):
    stack = ResidualStack(
        2, [1, 2], **ARGUMENTS | {"normalization": normalization, "dropout": dropout, "activation": activation}
    )
    stack.build((None, None, 8))
    return with_random_weights(stack, scale=0.5)


def fast_parts(stack):
    return {
        type(layer).__name__
        for layer in all_layers(stack)
        if "fast" in type(layer).__module__ or getattr(layer, "convolve", convolve_taps) is not convolve_taps
    }


@pytest.mark.parametrize("normalization", ["batch", "layer"])
def test_fast_and_plain_stacks_have_equal_outputs_and_gradients(normalization):
    fast = make_stack(normalization)
    use_tap_products(fast)
    with plain_layers():
        plain = make_stack(normalization)
    assert fast_parts(plain) == set()
    assert {"DilatedConvolution", f"Fast{normalization.title()}Normalization"} == fast_parts(fast)

    values, upstream = tf.constant(random_values(3, 7, 8)), tf.constant(random_values(3, 7, 8, seed=2))
    mask = np.arange(7) < np.array([7, 3, 0])[:, None]
    results = []
    for stack in (fast, plain):
        with tf.GradientTape() as tape:
            outputs = stack(values, mask=mask, training=True) * upstream * mask[..., None]
        results.append([outputs, *tape.gradient(outputs, [weight.value for weight in stack.trainable_weights])])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-4 * max(1.0, float(np.abs(other).max())))


def test_dropout_is_hashed():
    assert "HashedDropout" in fast_parts(make_stack("none", dropout=0.5))
    assert "HashedAlphaDropout" in fast_parts(make_stack("none", dropout=0.5, activation="selu"))


@pytest.mark.parametrize("alpha", [False, True])
def test_fast_and_plain_dropout_give_the_same_values(alpha):
    inputs = np.full((100, 100), 2.0, "float32")
    fast = make_dropout(0.3, alpha, seed=1)(inputs, training=True)
    plain = (keras.layers.AlphaDropout if alpha else keras.layers.Dropout)(0.3, seed=1)(inputs, training=True)
    (fast_values, fast_counts), (plain_values, plain_counts) = (
        np.unique(keras.ops.convert_to_numpy(outputs), return_counts=True) for outputs in (fast, plain)
    )
    np.testing.assert_allclose(fast_values, plain_values, rtol=1e-5)  # one value for dropped units, one for kept units
    np.testing.assert_allclose(fast_counts, plain_counts, atol=5 * np.sqrt(2 * 10_000 * 0.3 * 0.7))


def test_no_dropout_layer_for_rate_0():
    assert make_dropout(0.0) is None


@pytest.mark.parametrize(("on_gpu", "convolve"), [(False, convolve_taps), (True, product_of_taps)])
def test_wide_convolutions_are_computed_as_products_only_on_a_gpu(on_gpu, convolve):
    wide = ResidualStack(1, [1], **ARGUMENTS | {"dim": 128, "normalization": "none"})
    use_tap_products(wide, on_gpu)
    assert {layer.convolve for layer in all_layers(wide) if isinstance(layer, DilatedConvolution)} == {convolve}
