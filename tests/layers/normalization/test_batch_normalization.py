"""Masked batch normalisation equals NumPy with moments of real steps. Its gradients equal Madsen 2017, appendix B.3."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.layers import MaskedBatchNormalization, batch_norm_statistics

from .normalization_values import BATCH, EPSILON, gradients, random_values

BOTH_BATCH = pytest.mark.parametrize("kind", BATCH)


def make_layer(channels=3, kind=MaskedBatchNormalization, **arguments):
    layer = kind(epsilon=EPSILON, **arguments)
    layer.build((None, None, channels))
    layer.beta.assign(np.arange(channels) + 0.5)
    return layer


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


@BOTH_BATCH
def test_half_precision_inputs_are_normalised_in_single_precision(kind):
    # The sum of these values is larger than the largest float16.
    layer = kind(epsilon=EPSILON, dtype="mixed_float16")
    values = np.full((1, 256, 1), 300.0, "float16")
    values[:, ::2] = 301
    outputs = layer(values, training=True)
    assert keras.backend.standardize_dtype(outputs.dtype) == "float16"
    np.testing.assert_allclose(np.abs(outputs), 1, atol=1e-2)


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
