"""The product of taps equals the convolution."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.layers import DilatedConvolution
from bytenet.layers.convolution import convolve_taps
from bytenet.layers.fast.tap_products import product_of_taps

from ..convolutions import LAYERS, make_layer
from ..random_weights import random_values


@settings(max_examples=40)
@given(layer=LAYERS, length=st.integers(1, 14), channels=st.integers(1, 3), use_bias=st.booleans())
def test_outputs_and_gradients_equal_the_convolution(layer, length, channels, use_bias):
    layer = make_layer(*layer, channels, use_bias=use_bias)
    inputs = tf.Variable(random_values(2, length, channels))
    delta = random_values(2, length, layer.filters, seed=2)
    results = []
    for layer.convolve in (convolve_taps, product_of_taps):
        with tf.GradientTape() as tape:
            outputs = layer(inputs)
        gradients = tape.gradient(outputs, [inputs, *(weight.value for weight in layer.weights)], delta)
        results.append([outputs, *gradients])
    for plain, product in zip(*results, strict=True):
        np.testing.assert_allclose(product, plain, atol=1e-4)


@pytest.mark.parametrize("causal", [False, True])
def test_one_trace_accepts_any_length(causal):
    layer = make_layer(3, 5, 2, causal, 2)
    traced = tf.function(layer, input_signature=[tf.TensorSpec((None, None, 2), tf.float32)])
    inputs = [random_values(2, length, 2, seed=length) for length in (1, 3, 11)]
    layer.convolve = product_of_taps
    products = [traced(values) for values in inputs]
    layer.convolve = convolve_taps
    for product, values in zip(products, inputs, strict=True):
        np.testing.assert_allclose(product, layer(values), atol=1e-4)


def test_product_has_the_precision_of_the_policy():
    layer = DilatedConvolution(3, 3, 2, dtype="mixed_bfloat16")
    inputs = random_values(2, 5, 4)
    plain = layer(inputs)
    layer.convolve = product_of_taps
    product = layer(inputs)
    assert product.dtype == plain.dtype == tf.bfloat16
    np.testing.assert_allclose(*(tf.cast(values, tf.float32) for values in (product, plain)), atol=0.05)
