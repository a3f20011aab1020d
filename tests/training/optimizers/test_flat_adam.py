"""FlatAdam equals Keras's Adam and calculations by hand."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.optimizers.schedules import WarmupDecay

from .small_weights import SHAPES, gradients_of_steps, make_weights


def run(optimizer, all_gradients, after_step=lambda weights: None):
    weights = make_weights()
    optimizer.build(weights)
    for gradients in all_gradients:
        optimizer.apply([tf.constant(gradient) for gradient in gradients], weights)
        after_step(weights)
    return [convert_to_numpy(weight) for weight in weights]


def norm(arrays):
    return np.sqrt(sum(float((array**2).sum()) for array in arrays))


@pytest.mark.parametrize("clip_norm", [None, 3.0, 100.0])
@pytest.mark.parametrize("scheduled", [False, True])
def test_flat_adam_equals_keras_adam(clip_norm, scheduled):
    rate = WarmupDecay(0.05, "cosine", 3, 20) if scheduled else 0.05
    moments = {"beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-3}
    all_gradients = gradients_of_steps(12)
    assert 3.0 < min(map(norm, all_gradients)) < max(map(norm, all_gradients)) < 100.0
    flat = run(FlatAdam(rate, clip_norm=clip_norm, **moments), all_gradients)
    kerass = run(keras.optimizers.Adam(rate, global_clipnorm=clip_norm, **moments), all_gradients)
    for own, other, first in zip(flat, kerass, make_weights(), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-6)
        assert np.all(np.abs(own - convert_to_numpy(first)) > 1e-3)


def test_first_step_equals_calculation_by_hand():
    # Without earlier moments, the first step is the learning rate times the sign of the gradient.
    gradients = gradients_of_steps(1)
    moved = run(FlatAdam(0.01), gradients)
    for own, first, gradient in zip(moved, make_weights(), gradients[0], strict=True):
        np.testing.assert_allclose(own, convert_to_numpy(first) - 0.01 * np.sign(gradient), atol=1e-6)


@pytest.mark.thorough
def test_flat_adam_equals_keras_adam_in_fit_with_a_compiled_step():
    def train(optimizer):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(1)])
        model.compile(optimizer, "mse", jit_compile=True)
        random = np.random.default_rng(0)
        inputs, targets = random.normal(size=(40, 3)), random.normal(size=(40, 1))
        model.fit(inputs, targets, batch_size=8, epochs=2, shuffle=False, verbose=0)
        return model.get_weights()

    flat = train(FlatAdam(0.01, clip_norm=0.5))
    for own, other in zip(flat, train(keras.optimizers.Adam(0.01, epsilon=1e-8, global_clipnorm=0.5)), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-6)


@pytest.mark.parametrize("clip_norm", [None, 1.0])
def test_gradient_norm_is_the_norm_of_the_latest_unclipped_gradient(clip_norm):
    all_gradients = gradients_of_steps(3, scale=5.0)
    optimizer = FlatAdam(clip_norm=clip_norm)
    run(optimizer, all_gradients)
    np.testing.assert_allclose(optimizer.gradient_norm, norm(all_gradients[-1]), rtol=1e-5)


def test_zero_gradients_do_not_change_the_weights():
    zeros = [[np.zeros(shape, "float32") for shape in SHAPES]]
    for own, first in zip(run(FlatAdam(clip_norm=1.0), zeros), make_weights(), strict=True):
        np.testing.assert_array_equal(own, convert_to_numpy(first))


def test_average_equals_calculation_by_hand():
    optimizer = FlatAdam(0.1, ema_momentum=0.3)
    by_hand = []
    # Begins with the weights after the first step. Then the share of the old average grows to the momentum.
    shares = iter([0, 2 / 11, 3 / 12, 0.3, 0.3, 0.3])

    def keep_average(weights):
        share, new = next(shares), list(map(convert_to_numpy, weights))
        by_hand[:] = [share * old + (1 - share) * weight for old, weight in zip(by_hand or new, new, strict=True)]

    weights = run(optimizer, gradients_of_steps(6), keep_average)
    averages = optimizer.average_weights()
    for average, expected, weight in zip(averages, by_hand, weights, strict=True):
        assert average.shape == weight.shape
        np.testing.assert_allclose(average, expected, atol=1e-6)
        assert np.max(np.abs(average - weight)) > 1e-5


def test_no_average_without_momentum_or_before_the_first_step():
    optimizer = FlatAdam()
    assert optimizer.average_weights() is None
    run(optimizer, gradients_of_steps(1))
    assert optimizer.average_weights() is None
    averaging = FlatAdam(ema_momentum=0.9)
    averaging.build(make_weights())
    assert averaging.average_weights() is None
