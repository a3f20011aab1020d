"""Weight normalisation, initial weights, and scaled gradients."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.layers import DilatedConvolution
from bytenet.layers.convolution import convolve_taps
from bytenet.layers.fast import HashedDropout
from bytenet.layers.gated.block import gated_linear_unit
from bytenet.layers.gated.gradient_scale import scale_gradient
from bytenet.layers.gated.maps import make_map
from bytenet.layers.gated.weight_normalization import WeightNormalizedConvolution

from ..random_weights import random_values


def make_convolution(kernel_size=3, channels=4, filters=5, dtype=None):
    """A causal convolution with a random kernel and a random bias, and with its initial gain."""
    layer = WeightNormalizedConvolution(
        filters, kernel_size, causal=True, kernel_initializer="random_normal", dtype=dtype
    )
    layer.build((None, None, channels))
    layer.bias.assign(random_values(filters))
    return layer


def as_float32(values):
    return convert_to_numpy(keras.ops.cast(values, "float32"))


def test_kernel_and_gradients_of_a_worked_example():
    layer = make_convolution(1, 2, 1)
    layer.kernel.assign([[[3.0], [4.0]]])
    layer.gain.assign([10.0])
    np.testing.assert_allclose(layer.taps(), [[[6.0], [8.0]]], rtol=1e-6)
    with tf.GradientTape() as tape:
        output = layer(np.array([[1.0, 0.0]], "float32"))  # the gradient of the kernel is [1, 0]
    gain_gradient, kernel_gradient = tape.gradient(output, [layer.gain.value, layer.kernel.value])
    np.testing.assert_allclose(gain_gradient, [0.6], atol=1e-6)
    np.testing.assert_allclose(kernel_gradient, [[[1.28], [-0.96]]], atol=1e-6)


def test_normalization_does_not_change_the_initial_kernel():
    layer = make_convolution()
    assert np.abs(layer.gain - 1).min() > 0.01
    np.testing.assert_allclose(layer.taps(), layer.kernel, rtol=1e-5)


def test_length_of_the_kernel_of_each_filter_has_no_effect():
    layer, inputs = make_convolution(), random_values(2, 6, 4)
    before, kernel = convert_to_numpy(layer(inputs)), convert_to_numpy(layer.kernel).copy()
    layer.kernel.assign(kernel * np.array([2.0, 0.1, 30.0, 1.0, 5.0]))
    np.testing.assert_allclose(layer(inputs), before, atol=1e-5)
    # But the taps are normalised together, and so are the channels.
    for factors in (np.array([2.0, 1.0, 1.0])[:, None, None], np.array([2.0, 1.0, 1.0, 1.0])[:, None]):
        layer.kernel.assign(kernel * factors)
        assert np.abs(layer(inputs) - before).max() > 1e-3


def test_step_with_normalized_weights_equals_call():
    layer, inputs = make_convolution(), random_values(2, 6, 4)
    layer.gain.assign(random_values(5, seed=2))
    padded = np.pad(inputs, [[0, 0], [2, 0], [0, 0]])
    past = keras.ops.matmul(padded[:, 3:5].reshape(2, -1), layer.past_kernel())
    np.testing.assert_allclose(
        layer.step(keras.ops.array(inputs[:, 3]), layer.present_kernel(), past), layer(inputs)[:, 3], atol=1e-6
    )


def test_mixed_precision_rounds_the_normalized_kernel_once():
    layer, inputs = make_convolution(dtype="mixed_bfloat16"), random_values(2, 6, 4)
    layer.gain.assign(random_values(5, seed=2))
    kernels = []

    def convolve(padded, kernel, *arguments):
        assert padded.dtype == kernel.dtype == "bfloat16"
        kernels.append(kernel)
        return convolve_taps(padded, kernel, *arguments)

    layer.convolve = convolve
    outputs = as_float32(layer(inputs))
    kernel, gain = convert_to_numpy(layer.kernel), convert_to_numpy(layer.gain)
    exact = kernel * gain / np.linalg.norm(kernel, axis=(0, 1))
    np.testing.assert_allclose(as_float32(kernels[0]), exact, rtol=2**-8)
    np.testing.assert_array_equal(as_float32(layer.present_kernel()), as_float32(kernels[0])[-1])
    padded = np.pad(inputs, [[0, 0], [2, 0], [0, 0]])
    past = keras.ops.matmul(keras.ops.cast(padded[:, 3:5].reshape(2, -1), "bfloat16"), layer.past_kernel())
    step = layer.step(keras.ops.array(inputs[:, 3]), layer.present_kernel(), past)
    np.testing.assert_allclose(as_float32(step), outputs[:, 3], rtol=2**-6, atol=2**-6)


@pytest.mark.parametrize(
    ("kernel_size", "channels", "kept_share", "gated", "deviation"),
    [
        (3, 512, 1.0, True, 0.051031),
        (3, 512, 0.8, True, 0.045644),
        (5, 128, 0.9, True, 0.075),
        (1, 512, 0.8, False, 0.039528),
    ],
)
def test_initial_weights_have_the_standard_deviation_of_the_paper(kernel_size, channels, kept_share, gated, deviation):
    layer = make_map(200, kernel_size, kept_share=kept_share, gated=gated)
    layer.build((None, None, channels))
    kernel = convert_to_numpy(layer.kernel)
    assert kernel.std() == pytest.approx(deviation, rel=0.01)
    assert np.mean(np.square(kernel) > (2 * deviation) ** 2) == pytest.approx(0.0455, abs=0.004)  # normal, not cut
    assert not convert_to_numpy(layer.bias).any()


@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_gated_convolution_keeps_a_small_variance_at_the_start(rate):
    """100,000 outputs for inputs of variance .01."""
    keras.utils.set_random_seed(1)
    layer = make_map(500, kernel_size=3, kept_share=1 - rate, gated=True)
    layer.build((None, None, 256))
    inputs = 0.1 * random_values(1, 402, 256)
    dropped = HashedDropout(rate, seed=1)(inputs, training=True)
    outputs = convert_to_numpy(gated_linear_unit(layer(dropped)))[:, 1:-1]
    assert outputs.size == 100_000
    assert outputs.var() / inputs.var() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(("variance", "share"), [(0.01, 0.2506), (0.25, 0.2640), (1.0, 0.2934), (4.0, 0.3486)])
def test_gate_leaves_a_quarter_of_a_small_variance_and_more_of_a_large_one(variance, share):
    """A normal gate with the given variance, by Gauss-Hermite quadrature. Its output does not depend on the gate."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    gates = variance**0.5 * nodes
    outputs = convert_to_numpy(gated_linear_unit(np.stack([np.ones(60), gates], axis=-1)))[:, 0]
    assert np.average(outputs**2, weights=weights) == pytest.approx(share, abs=5e-5)


def test_gated_linear_unit_of_a_worked_example():
    outputs = gated_linear_unit(np.array([[1.0, -2.0, 0.5, 0.0, 1.0, -1.0]], "float32"))
    np.testing.assert_allclose(outputs, [[0.5, -1.462117, 0.134471]], atol=1e-6)


def test_causal_convolution_of_a_worked_example():
    layer = DilatedConvolution(1, 2, causal=True)
    layer.build((None, None, 1))
    layer.kernel.assign([[[10.0]], [[1.0]]])
    np.testing.assert_array_equal(layer(np.array([[[1.0], [2.0], [3.0]]]))[0, :, 0], [1, 12, 23])


def test_scaled_gradient_leaves_the_values_as_they_are():
    values = tf.Variable(random_values(100))
    with tf.GradientTape() as tape:
        scaled = scale_gradient(values, 1 / 6)
        result = tf.reduce_sum(tf.sin(scaled))
    np.testing.assert_array_equal(scaled, values)
    np.testing.assert_allclose(tape.gradient(result, values), np.cos(values) / 6, atol=1e-6)
