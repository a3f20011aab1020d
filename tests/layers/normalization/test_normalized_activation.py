"""An activation after its normalisation, and what all normalising layers share: precision, shape, configuration."""

import keras
import numpy as np
import pytest

from bytenet.layers import LayerNormalization, MaskedBatchNormalization, NormalizedActivation
from bytenet.layers.fast import FastBatchNormalization, FastLayerNormalization

from .normalization_values import BATCH, EPSILON, random_values


@pytest.mark.parametrize("kind", ["batch", "layer"])
def test_normalization_comes_before_the_activation_and_has_no_gain(kind):
    layer = NormalizedActivation(kind, "relu", epsilon=EPSILON)
    values = random_values(2, 5, 3)
    outputs = layer(values, training=True)
    axes = (0, 1) if kind == "batch" else -1
    keep = {"axis": axes, "keepdims": True}
    expected = np.maximum((values - values.mean(**keep)) / np.sqrt(values.var(**keep) + EPSILON), 0)
    np.testing.assert_allclose(outputs, expected, atol=1e-4)
    assert [weight.name for weight in layer.trainable_weights] == ["beta"]


def test_layer_without_normalization_is_the_activation_alone():
    layer = NormalizedActivation("none", "selu")
    values = random_values(2, 5, 3) - 2
    scale, alpha = 1.0507009873, 1.6732632423  # Madsen 2017, eq. 3.5.1
    np.testing.assert_allclose(
        layer(values), scale * np.where(values > 0, values, alpha * (np.exp(values) - 1)), atol=1e-4
    )
    assert layer.weights == []


def test_unknown_normalization_is_refused():
    with pytest.raises(ValueError, match="Unknown normalisation 'instance'; known are batch, layer, none"):
        NormalizedActivation("instance", "relu")


@pytest.mark.parametrize("policy", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("kind", [*BATCH, LayerNormalization, FastLayerNormalization])
def test_weights_are_single_precision_with_every_policy(kind, policy):
    layer, values = kind(dtype=policy), random_values(2, 5, 3)
    outputs = layer(values, training=True)
    assert keras.backend.standardize_dtype(outputs.dtype) == policy
    assert {weight.dtype for weight in layer.weights} == {"float32"}
    np.testing.assert_allclose(keras.ops.cast(outputs, "float32"), kind()(values, training=True), atol=0.02)


@pytest.mark.parametrize(
    "layer", [MaskedBatchNormalization(), LayerNormalization(), NormalizedActivation("batch", "relu")]
)
def test_output_has_the_shape_of_the_input(layer):
    assert layer.compute_output_shape((None, None, 8)) == (None, None, 8)


@pytest.mark.parametrize(
    "layer",
    [
        MaskedBatchNormalization(epsilon=1e-4, momentum=0.8, synchronized=True, name="norm"),
        FastBatchNormalization(epsilon=1e-4, momentum=0.8, synchronized=True, name="norm"),
        FastLayerNormalization(epsilon=1e-4, name="norm"),
        NormalizedActivation("batch", "selu", epsilon=1e-4, momentum=0.8, name="act"),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_configuration_round_trip(layer):
    assert type(layer).from_config(layer.get_config()).get_config() == layer.get_config()
