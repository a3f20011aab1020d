"""Layer normalisation equals NumPy and Keras. Its gradients equal Madsen 2017, appendix B.4."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from bytenet.layers import LayerNormalization
from bytenet.layers.fast import FastLayerNormalization

from .normalization_values import EPSILON, gradients, random_values

BOTH_LAYER = pytest.mark.parametrize("kind", [LayerNormalization, FastLayerNormalization])


@BOTH_LAYER
def test_layer_normalization_and_its_gradient_equal_the_formulas(kind):
    """Like batch normalisation, but over the channels of each step."""
    layer = kind(EPSILON)
    values, g = random_values(2, 5, 7), random_values(2, 5, 7, seed=1)
    layer.build(values.shape)
    layer.beta.assign(np.arange(7))
    variable = tf.Variable(values)
    with tf.GradientTape() as tape:
        outputs = layer(variable)
        loss = tf.reduce_sum(outputs * g)
    gradient, beta_gradient = tape.gradient(loss, [variable, layer.beta.value])

    deviation = np.sqrt(values.var(axis=-1, keepdims=True) + EPSILON)
    z = (values - values.mean(axis=-1, keepdims=True)) / deviation
    np.testing.assert_allclose(outputs, z + np.arange(7), atol=1e-4)
    expected = (g - g.mean(-1, keepdims=True) - z * (g * z).mean(-1, keepdims=True)) / deviation
    np.testing.assert_allclose(gradient, expected, atol=1e-4)
    np.testing.assert_allclose(beta_gradient, g.sum(axis=(0, 1)), atol=1e-4)


@BOTH_LAYER
@pytest.mark.parametrize("scale", [False, True])
def test_layer_normalisation_equals_keras_in_outputs_and_gradients(kind, scale):
    layer, reference = kind(EPSILON, scale=scale), keras.layers.LayerNormalization(epsilon=EPSILON, scale=scale)
    for one in (layer, reference):
        one.build((None, None, 5))
        one.beta.assign(np.arange(5) / 2)
        if scale:
            one.gamma.assign(np.arange(5) - 2)
    values, upstream = random_values(3, 4, 5), random_values(3, 4, 5, seed=1)
    results = gradients(layer, values, upstream), gradients(reference, values, upstream)
    for result, expected in zip(*results, strict=True):
        np.testing.assert_allclose(result, expected, atol=1e-4)


@BOTH_LAYER
def test_layer_normalisation_divides_by_the_deviation_of_all_channels(kind):
    """Not by the deviation of a sample, which would give 1.161895."""
    layer = kind(epsilon=0.0)
    layer.build((None, 4))
    np.testing.assert_allclose(
        layer(np.array([[1.0, 2.0, 3.0, 4.0]], "float32")), [[-1.341641, -0.447214, 0.447214, 1.341641]], atol=1e-6
    )
