"""Nesterov's gradient as in fairseq: numbers by hand, and the difference from Keras after a cut of the rate."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.training.optimizers.keras_optimizer import KerasOptimizer
from bytenet.training.optimizers.nag import Nag
from bytenet.training.optimizers.schedules import PlateauDecay


def descend(kind, rates, **arguments):
    """The values of x after each update on x²/2, from 1 on. The gradient is x itself."""
    schedule = PlateauDecay(rates[0], warmup_steps=0, total_updates=len(rates))
    optimizer = KerasOptimizer(kind, schedule, momentum=0.9, **arguments)
    x = keras.Variable(1.0)
    optimizer.build([x])
    values = []
    for rate in rates:
        schedule.set_rate(rate)
        optimizer.apply([tf.convert_to_tensor(x)], [x])
        values.append(float(convert_to_numpy(x)))
    return values


def test_values_at_a_constant_rate_equal_calculation_by_hand():
    values = descend(Nag, [0.1, 0.1, 0.1])
    np.testing.assert_allclose(values, [0.81, 0.5751, 0.327321], rtol=1e-6)
    np.testing.assert_allclose(values, descend(keras.optimizers.SGD, [0.1, 0.1, 0.1], nesterov=True), rtol=1e-6)


def test_velocity_is_rescaled_when_the_rate_is_cut():
    rates = [0.1, 0.1, 0.01]
    np.testing.assert_allclose(descend(Nag, rates), [0.81, 0.5751, 0.550322], rtol=1e-6)
    # Keras keeps the velocity of the old rate.
    np.testing.assert_allclose(descend(keras.optimizers.SGD, rates, nesterov=True), [0.81, 0.5751, 0.425663], rtol=1e-6)


def test_velocity_times_the_rate_equals_the_velocity_by_hand():
    optimizer = Nag(0.1, momentum=0.9)
    x = keras.Variable(1.0)
    optimizer.build([x])
    velocities = []
    for _ in range(3):
        optimizer.apply([tf.convert_to_tensor(x)], [x])
        velocities.append(0.1 * float(convert_to_numpy(optimizer._velocities[0])))
    np.testing.assert_allclose(velocities, [-0.1, -0.171, -0.21141], rtol=1e-6)


def test_many_changes_of_the_rate_equal_the_rule_of_fairseq():
    random = np.random.default_rng(0)
    rates, gradients = random.uniform(0.01, 1, 30), random.normal(size=(30, 4)).astype("float32")
    schedule = PlateauDecay(1.0, warmup_steps=0, total_updates=30)
    optimizer = KerasOptimizer(Nag, schedule, weight_decay=0.1)  # the default momentum
    weight = keras.Variable(np.ones(4, "float32"))
    optimizer.build([weight])
    expected, velocity, old_rate = np.ones(4), np.zeros(4), rates[0]
    for rate, gradient in zip(rates, gradients, strict=True):
        schedule.set_rate(rate)
        optimizer.apply([tf.constant(gradient)], [weight])
        velocity *= rate / old_rate
        expected = expected * (1 - 0.1 * rate) + 0.99**2 * velocity - 1.99 * rate * gradient
        velocity = 0.99 * velocity - rate * gradient
        old_rate = rate
    np.testing.assert_allclose(weight, expected, rtol=1e-4)


def test_momentum_outside_of_its_range_is_refused():
    with pytest.raises(ValueError, match=r"momentum is 1\.0, but should be at least 0 and less than 1"):
        Nag(0.1, momentum=1.0)
