"""Masked batch normalisation equals NumPy with moments of real steps. Gradients equal Madsen 2017, appendix B."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.layers import LayerNormalization, MaskedBatchNormalization, NormalizedActivation, batch_norm_statistics
from bytenet.layers.fast import FastBatchNormalization, FastLayerNormalization

EPSILON = 1e-3
# The plain layers, and the layers with hand-written gradients.
BATCH = (MaskedBatchNormalization, FastBatchNormalization)
BOTH_BATCH = pytest.mark.parametrize("kind", BATCH)
BOTH_LAYER = pytest.mark.parametrize("kind", [LayerNormalization, FastLayerNormalization])


def make_layer(channels=3, kind=MaskedBatchNormalization, **arguments):
    layer = kind(epsilon=EPSILON, **arguments)
    layer.build((None, None, channels))
    layer.beta.assign(np.arange(channels) + 0.5)
    return layer


def random_values(*shape, seed=0):
    return np.random.default_rng(seed).normal(2.0, 3.0, size=shape).astype("float32")


def mask_of(lengths, length):
    return np.arange(length) < np.array(lengths)[:, None]


def statistics(layer):
    return convert_to_numpy(layer.moving_mean), convert_to_numpy(layer.moving_variance)


@settings(max_examples=25)
@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(any),
    synchronized=st.booleans(),
    kind=st.sampled_from(BATCH),
)
def test_training_uses_only_the_moments_of_real_steps(lengths, synchronized, kind):
    # A length of 0 is a filler row.
    layer = make_layer(momentum=0.9, synchronized=synchronized, kind=kind)
    layer.moving_mean.assign([1.0, 2.0, 3.0])
    layer.moving_variance.assign([4.0, 5.0, 6.0])
    mask = mask_of(lengths, 6)
    values = random_values(len(lengths), 6, 3)
    values[~mask] = 1e4  # would change every moment
    outputs = convert_to_numpy(layer(values, mask=mask, training=True))

    real = values[mask].astype("float64")
    mean, variance = real.mean(axis=0), real.var(axis=0)
    expected = (real - mean) / np.sqrt(variance + EPSILON) + [0.5, 1.5, 2.5]
    np.testing.assert_allclose(outputs[mask], expected, atol=1e-4)
    moving_mean, moving_variance = statistics(layer)
    np.testing.assert_allclose(moving_mean, 0.9 * np.array([1, 2, 3]) + 0.1 * mean, atol=1e-4)
    np.testing.assert_allclose(moving_variance, 0.9 * np.array([4, 5, 6]) + 0.1 * variance, atol=1e-4)


def test_every_step_counts_without_a_mask():
    values = random_values(2, 5, 3)
    outputs = make_layer()(values, training=True)
    everywhere = make_layer()(values, mask=np.ones((2, 5), bool), training=True)
    np.testing.assert_allclose(outputs, everywhere, atol=1e-6)
    expected = (values - values.mean((0, 1))) / np.sqrt(values.var((0, 1)) + EPSILON) + [0.5, 1.5, 2.5]
    np.testing.assert_allclose(outputs, expected, atol=1e-4)


def test_inference_uses_running_statistics_and_does_not_change_them():
    layer = make_layer()
    layer.moving_mean.assign([1.0, 2.0, 3.0])
    layer.moving_variance.assign([4.0, 5.0, 6.0])
    values = random_values(2, 5, 3)
    outputs = layer(values, mask=mask_of([5, 2], 5))
    expected = (values - [1, 2, 3]) / np.sqrt(np.array([4, 5, 6]) + EPSILON) + [0.5, 1.5, 2.5]
    np.testing.assert_allclose(outputs, expected, atol=1e-4)
    np.testing.assert_array_equal(statistics(layer), [[1, 2, 3], [4, 5, 6]])


def test_training_statistics_in_inference_keep_the_running_statistics():
    layer = make_layer()
    values, mask = random_values(2, 5, 3), mask_of([5, 2], 5)
    layer.training_statistics = True
    outputs = layer(values, mask=mask)
    np.testing.assert_array_equal(statistics(layer), [[0, 0, 0], [1, 1, 1]])
    np.testing.assert_allclose(outputs, layer(values, mask=mask, training=True), atol=1e-6)


def test_chosen_statistics_end_with_their_context():
    layer = make_layer()
    model = keras.Sequential([layer])
    with batch_norm_statistics(model, "batch"):
        with batch_norm_statistics(model, "moving"):
            assert not layer.training_statistics
        assert layer.training_statistics
    assert not layer.training_statistics
    with (
        pytest.raises(ValueError, match="Unknown statistics 'running'; known are batch, moving"),
        batch_norm_statistics(model, "running"),
    ):
        pass


@BOTH_BATCH
def test_frozen_layer_uses_and_keeps_the_running_statistics_in_training(kind):
    layer, values = make_layer(kind=kind), random_values(2, 5, 3)
    layer.moving_mean.assign([1.0, 2.0, 3.0])
    layer.trainable = False
    np.testing.assert_array_equal(layer(values, training=True), layer(values))
    np.testing.assert_array_equal(statistics(layer), [[1, 2, 3], [1, 1, 1]])


def test_batch_without_real_steps_keeps_the_running_statistics():
    layer = make_layer()
    layer.moving_mean.assign([1.0, 2.0, 3.0])
    outputs = layer(random_values(2, 5, 3), mask=np.zeros((2, 5), bool), training=True)
    assert np.all(np.isfinite(outputs))
    np.testing.assert_array_equal(statistics(layer), [[1, 2, 3], [1, 1, 1]])


@BOTH_BATCH
def test_batch_normalization_gradient_counts_only_real_steps(kind):
    """delta = (g - mean g - z mean(g z)) / sqrt(variance + epsilon), with means over the real steps."""
    layer = make_layer(kind=kind)
    mask = mask_of([5, 2, 0], 5)
    values = random_values(3, 5, 3)
    g = random_values(3, 5, 3, seed=1) * mask[..., None]
    variable = tf.Variable(values)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(variable, mask=mask, training=True) * g)
    gradient, beta_gradient = tape.gradient(loss, [variable, layer.beta.value])

    real, real_g = values[mask].astype("float64"), g[mask].astype("float64")
    deviation = np.sqrt(real.var(axis=0) + EPSILON)
    z = (real - real.mean(axis=0)) / deviation
    expected = np.zeros_like(values)
    expected[mask] = (real_g - real_g.mean(axis=0) - z * (real_g * z).mean(axis=0)) / deviation
    np.testing.assert_allclose(gradient, expected, atol=1e-4)
    np.testing.assert_allclose(beta_gradient, real_g.sum(axis=0), atol=1e-4)


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


@BOTH_BATCH
def test_half_precision_inputs_are_normalised_in_single_precision(kind):
    # The sum of these values is larger than the largest float16.
    layer = kind(epsilon=EPSILON, dtype="mixed_float16")
    values = np.full((1, 256, 1), 300.0, "float16")
    values[:, ::2] = 301
    outputs = layer(values, training=True)
    assert keras.backend.standardize_dtype(outputs.dtype) == "float16"
    np.testing.assert_allclose(np.abs(outputs), 1, atol=1e-2)


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


def gradients(layer, values, upstream, **arguments):
    """Outputs, and the gradients of the sum of outputs times `upstream` with respect to input and offset."""
    values = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(values)
        outputs = layer(values, **arguments)
        loss = tf.reduce_sum(outputs * upstream)
    return outputs, *tape.gradient(loss, [values, layer.beta.value])


@settings(max_examples=15)
@given(
    # A single real step has no variance: its gradients are rounding errors.
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(lambda lengths: sum(lengths) > 1),
    synchronized=st.booleans(),
)
def test_fast_and_plain_batch_normalisation_have_equal_outputs_and_gradients(lengths, synchronized):
    values, upstream = random_values(len(lengths), 6, 3), random_values(len(lengths), 6, 3, seed=1)
    plain, fast = (
        gradients(make_layer(kind=kind, synchronized=synchronized), values, upstream, mask=mask_of(lengths, 6),
                  training=True)
        for kind in BATCH
    )  # fmt: skip
    for result, expected in zip(fast, plain, strict=True):
        np.testing.assert_allclose(result, expected, atol=2e-4 * max(1.0, float(np.abs(expected).max())))


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
