"""Dilated convolution equals loops. Its gradients equal the formulas of Madsen 2017, appendix B.2 (corrected)."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.layers import DilatedConvolution

from .convolutions import LAYERS, make_layer
from .random_weights import random_values


def tap_offsets(layer):
    """Steps from an output to the input of each tap, oldest first."""
    centre = layer.kernel_size - 1 if layer.causal else (layer.kernel_size - 1) // 2
    return [(tap - centre) * layer.dilation_rate for tap in range(layer.kernel_size)]


def convolve_by_loops(layer, inputs):
    batch, length, _ = inputs.shape
    kernel = convert_to_numpy(layer.kernel).astype("float64")
    outputs = np.zeros((batch, length, layer.filters))
    for t in range(length):
        for tap, offset in enumerate(tap_offsets(layer)):
            if 0 <= t + offset < length:
                outputs[:, t] += inputs[:, t + offset] @ kernel[tap]
    return outputs if layer.bias is None else outputs + convert_to_numpy(layer.bias)


@settings(max_examples=40)
@given(layer=LAYERS, length=st.integers(1, 14), channels=st.integers(1, 3), use_bias=st.booleans())
def test_convolution_equals_loops_over_batch_time_and_taps(layer, length, channels, use_bias):
    layer = make_layer(*layer, channels, use_bias=use_bias)
    inputs = random_values(2, length, channels)
    np.testing.assert_allclose(layer(inputs), convolve_by_loops(layer, inputs), atol=1e-4)


def test_layer_with_one_tap_accepts_inputs_without_time():
    layer = make_layer(3, 1, 1, False, 2)
    inputs = random_values(4, 2)
    np.testing.assert_allclose(layer(inputs), layer(inputs[:, None])[:, 0], atol=1e-6)


@settings(max_examples=25)
@given(kernel_size=st.integers(1, 4), dilation_rate=st.integers(1, 5), position=st.integers(0, 11))
def test_causal_output_sees_exactly_its_taps(kernel_size, dilation_rate, position):
    layer = make_layer(2, kernel_size, dilation_rate, True, 2)
    inputs = random_values(1, 12, 2)
    changed = inputs.copy()
    changed[0, position] += 1
    differs = np.any(convert_to_numpy(layer(changed)) != convert_to_numpy(layer(inputs)), axis=-1)[0]
    seen_by = {position + tap * dilation_rate for tap in range(kernel_size)}
    assert set(np.flatnonzero(differs)) == {t for t in seen_by if t < 12}


@settings(max_examples=25)
@given(kernel_size=st.integers(1, 4), dilation_rate=st.integers(1, 5))
def test_step_equals_call(kernel_size, dilation_rate):
    layer = make_layer(3, kernel_size, dilation_rate, True, 2)
    length = 12
    inputs = random_values(2, length, 2)
    padded = np.pad(inputs, [[0, 0], [layer.reach, 0], [0, 0]])
    outputs = []
    for t in range(length):
        past = padded[:, t : t + layer.reach : dilation_rate].reshape(2, -1)  # a kernel of one tap has no past
        from_past = keras.ops.matmul(past, layer.past_kernel()) if past.size else None
        outputs.append(layer.step(keras.ops.array(inputs[:, t]), layer.present_kernel(), from_past))
    np.testing.assert_allclose(np.stack(outputs, axis=1), layer(inputs), atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dilation_rate", [1, 3])
def test_gradients_equal_the_formulas_of_appendix_b2(causal, dilation_rate):
    layer = make_layer(2, 3, dilation_rate, causal, 4)
    random = np.random.default_rng(2)
    inputs = random.normal(size=(2, 10, 4)).astype("float32")
    delta = random.normal(size=(2, 10, 2)).astype("float32")
    variable = tf.Variable(inputs)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(variable) * delta)
    inputs_gradient, kernel_gradient, bias_gradient = tape.gradient(
        loss, [variable, layer.kernel.value, layer.bias.value]
    )

    # dW(i) = sum over t of a(t + r i) delta(t)
    expected = np.zeros((3, 4, 2))
    for tap, offset in enumerate(tap_offsets(layer)):
        for t in range(10):
            if 0 <= t + offset < 10:
                expected[tap] += inputs[:, t + offset].T @ delta[:, t]
    np.testing.assert_allclose(kernel_gradient, expected, atol=1e-4)
    np.testing.assert_allclose(bias_gradient, delta.sum(axis=(0, 1)), atol=1e-4)

    # The gradient of the input is a dilated convolution of delta. Its kernel is flipped in time, and its channels are
    # transposed. Time runs backwards to flip the kernel. This also reverses a causal convolution.
    transposed = make_layer(4, 3, dilation_rate, causal, 2, use_bias=False)
    transposed.kernel.assign(convert_to_numpy(layer.kernel).transpose(0, 2, 1))
    np.testing.assert_allclose(inputs_gradient, transposed(delta[:, ::-1])[:, ::-1], atol=1e-4)


def test_even_centred_kernel_has_one_tap_more_on_the_right():
    layer = make_layer(1, 4, 2, False, 1, use_bias=False)
    layer.kernel.assign([[[1000.0]], [[100.0]], [[10.0]], [[1.0]]])
    inputs = np.arange(1.0, 8.0, dtype="float32")
    outputs = convert_to_numpy(layer(inputs[None, :, None]))[0, :, 0]
    np.testing.assert_array_equal(outputs, [135, 246, 1357, 2460, 3570, 4600, 5700])


@pytest.mark.parametrize("argument", ["filters", "kernel_size", "dilation_rate"])
def test_sizes_below_one_are_refused(argument):
    with pytest.raises(ValueError, match=f"{argument} is 0; expected 1 or more"):
        DilatedConvolution(**{"filters": 2, "kernel_size": 3} | {argument: 0})


def test_configuration_round_trip():
    layer = DilatedConvolution(3, 2, 4, True, False, kernel_initializer="lecun_uniform", name="conv")
    copy = DilatedConvolution.from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()
    assert (copy.filters, copy.kernel_size, copy.dilation_rate, copy.causal, copy.use_bias) == (3, 2, 4, True, False)
    assert copy.compute_output_shape((2, 9, 5)) == (2, 9, 3)
