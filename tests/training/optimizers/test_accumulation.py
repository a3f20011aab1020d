"""Accumulated gradients make the update of their weighted mean."""

import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config import TrainingConfig
from bytenet.training.optimizers.choice import make_optimizer

from .small_weights import SHAPES, make_weights

# The weights of the batches of three updates.
GROUPS = ([5.0, 1.0, 3.0], [2.0, 2.0, 7.0], [4.0])


def make(name, accumulate, arguments=None):
    config = TrainingConfig(
        optimizer=name, optimizer_arguments=arguments or {}, accumulate_batches=accumulate, learning_rate=0.1,
        schedule="linear", warmup_steps=2, clip_norm=1.0, ema_momentum=0.7, epsilon=1e-3,
    )  # fmt: skip
    return make_optimizer(config, total_updates=5)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("name", ["adam", "keras_adam", "nag", "adadelta"])
def test_update_of_a_group_equals_the_update_of_its_weighted_mean(name, jit_compile):
    random = np.random.default_rng(1)
    accumulating, plain = make(name, 3), make(name, 1)
    weights, expected_weights = make_weights(), make_weights()
    for optimizer, own in ((accumulating, weights), (plain, expected_weights)):
        optimizer.build(own)
    add = tf.function(lambda *gradients: accumulating.apply(gradients, weights), jit_compile=jit_compile)
    update = tf.function(lambda: accumulating.apply_accumulated(weights), jit_compile=jit_compile)
    for group in GROUPS:
        gradients = [[random.normal(size=shape).astype("float32") for shape in SHAPES] for _ in group]
        before = [convert_to_numpy(weight) for weight in weights]
        for weight, gradient in zip(group, gradients, strict=True):
            accumulating.batch_weight.assign(weight)
            add(*gradient)
        for own, old in zip(weights, before, strict=True):
            np.testing.assert_array_equal(own, old)  # nothing changes before the update
        update()
        mean = [np.average(parts, axis=0, weights=group).astype("float32") for parts in zip(*gradients, strict=True)]
        plain.apply([tf.constant(part) for part in mean], expected_weights)
        assert float(convert_to_numpy(plain.gradient_norm)) > 1, "nothing was clipped"
        np.testing.assert_allclose(accumulating.gradient_norm, plain.gradient_norm, rtol=1e-5)
        for own, expected, old in zip(weights, expected_weights, before, strict=True):
            np.testing.assert_allclose(own, expected, atol=1e-6)
            assert np.any(np.abs(convert_to_numpy(own) - old) > 1e-5)
        for own, expected in zip(accumulating.average_weights(), plain.average_weights(), strict=True):
            np.testing.assert_allclose(own, expected, atol=1e-6)
        # The rate depends on the number of updates.
        np.testing.assert_allclose(accumulating.learning_rate, plain.learning_rate, rtol=1e-6)
    assert int(convert_to_numpy(accumulating.iterations)) == len(GROUPS)


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_norm_of_a_gradient_is_known_before_the_update(name):
    """A run must end before it saves a sum that is not finite."""
    optimizer, weights = make(name, 3), make_weights()
    optimizer.build(weights)
    optimizer.batch_weight.assign(1.0)
    optimizer.apply([tf.fill(shape, np.inf) for shape in SHAPES], weights)
    assert not np.isfinite(convert_to_numpy(optimizer.gradient_norm))


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_only_accumulation_needs_further_variables(name):
    names, weights = {}, make_weights()
    for accumulate in (1, 2):
        optimizer = make(name, accumulate)
        optimizer.build(weights)
        names[accumulate] = [variable.name for variable in optimizer.variables]
    assert set(names[2]) - set(names[1]) == {"batch_weight", "weight_sum", "gradient_sum"}
    assert len(names[2]) == len(names[1]) + 3
