"""The averages of the weights temporarily replace the weights."""

import keras
import numpy as np
import pytest

from bytenet.training.optimizers.averaging import averaged_weights
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.optimizers.keras_optimizer import KerasOptimizer


@pytest.fixture
def trained_model():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((3,)), keras.layers.BatchNormalization(), keras.layers.Dense(2)])
    model.compile(FlatAdam(0.1, ema_momentum=0.5), "mse")
    random = np.random.default_rng(0)
    model.fit(random.normal(size=(40, 3)), random.normal(size=(40, 2)), batch_size=8, verbose=0)
    return model


def test_averages_replace_the_weights_inside_the_context(trained_model):
    model = trained_model
    own = model.get_weights()
    averages = model.optimizer.average_weights()
    with averaged_weights(model):
        for weight, average in zip(model.trainable_weights, averages, strict=True):
            np.testing.assert_array_equal(weight, average)
        assert not np.array_equal(model.layers[-1].kernel, own[-2])
        # Running statistics have no average and do not change.
        np.testing.assert_array_equal(model.layers[0].moving_mean, own[2])
    for weight, value in zip(model.get_weights(), own, strict=True):
        np.testing.assert_array_equal(weight, value)


def test_own_weights_are_restored_after_an_error(trained_model):
    own = trained_model.get_weights()
    with pytest.raises(RuntimeError, match="stop"), averaged_weights(trained_model):
        raise RuntimeError("stop")
    for weight, value in zip(trained_model.get_weights(), own, strict=True):
        np.testing.assert_array_equal(weight, value)


def test_own_weights_are_restored_if_another_model_has_no_optimizer(trained_model):
    own = trained_model.get_weights()
    without = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    with pytest.raises(AttributeError), averaged_weights(trained_model, without):
        pass
    for weight, value in zip(trained_model.get_weights(), own, strict=True):
        np.testing.assert_array_equal(weight, value)


@pytest.mark.parametrize("optimizer", [FlatAdam(0.1), KerasOptimizer(keras.optimizers.SGD, 0.1)])
def test_weights_stay_the_same_without_an_average(optimizer):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(optimizer, "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    own = model.get_weights()
    with averaged_weights(model):
        for weight, value in zip(model.get_weights(), own, strict=True):
            np.testing.assert_array_equal(weight, value)
