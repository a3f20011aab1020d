"""Keras's optimisers in training: they equal Keras's own clipping and averaging, and are restored from variables."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config import TrainingConfig, load_config
from bytenet.errors import ConfigError
from bytenet.private_api import averages_of
from bytenet.training.optimizers.choice import make_optimizer
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.optimizers.keras_classes import changes_without_effect, check_optimizer
from bytenet.training.optimizers.keras_optimizer import KerasOptimizer
from bytenet.training.optimizers.nag import Nag
from bytenet.training.optimizers.portable_optimizer import portable_optimizer
from bytenet.training.optimizers.schedules import WarmupDecay

from .small_weights import SHAPES, gradients_of_steps, make_weights

NESTEROV = {"momentum": 0.8, "nesterov": True}
KINDS = {
    "sgd": (keras.optimizers.SGD, NESTEROV),
    "adam": (keras.optimizers.Adam, {"beta_2": 0.95, "epsilon": 1e-3}),
    "adamw": (keras.optimizers.AdamW, {"weight_decay": 0.1, "epsilon": 1e-3}),
    "adafactor": (keras.optimizers.Adafactor, {}),
}
# All names that a configuration may use.
NAMES = [
    "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamw", "ftrl", "keras_adam", "lamb", "lion", "muon",
    "nadam", "nag", "rmsprop", "sgd",
]  # fmt: skip


def run(optimizer, all_gradients, weights=None):
    weights = weights or make_weights()
    optimizer.build(weights)
    for gradients in all_gradients:
        optimizer.apply([tf.constant(gradient) for gradient in gradients], weights)
    return [convert_to_numpy(weight) for weight in weights]


def schedule():
    return WarmupDecay(0.05, "cosine", 3, 20)


@pytest.mark.parametrize("clip_norm", [None, 3.0])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_averages_equal_the_results_of_keras(kind, clip_norm):
    make, arguments = KINDS[kind]
    all_gradients = gradients_of_steps(8)
    # With shares of at most 2/11, the average of Keras is the same: ours begins with smaller shares than the momentum.
    optimizer = KerasOptimizer(make, schedule(), clip_norm, ema_momentum=0.15, **arguments)
    own = run(optimizer, all_gradients)
    kerass = make(schedule(), global_clipnorm=clip_norm, use_ema=True, ema_momentum=0.15, **arguments)
    weights = make_weights()
    expected = run(kerass, all_gradients, weights)
    for one, other, first in zip(own, expected, make_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
        assert np.all(np.abs(one - convert_to_numpy(first)) > 1e-4)
    kerass.finalize_variable_values(weights)  # replaces the weights by their averages
    for average, expected_average, weight in zip(optimizer.average_weights(), weights, own, strict=True):
        np.testing.assert_allclose(average, expected_average, atol=1e-6)
        assert np.all(average != weight)


def test_gradient_norm_is_the_norm_of_the_latest_unclipped_gradient():
    all_gradients = gradients_of_steps(2)
    optimizer = KerasOptimizer(keras.optimizers.SGD, 0.1, clip_norm=0.5)
    run(optimizer, all_gradients)
    expected = np.sqrt(sum(float((gradient**2).sum()) for gradient in all_gradients[-1]))
    assert expected > 1
    np.testing.assert_allclose(optimizer.gradient_norm, expected, rtol=1e-5)


def test_no_average_without_momentum_or_before_the_first_step():
    optimizer = KerasOptimizer(keras.optimizers.SGD, 0.1)
    assert optimizer.average_weights() is None
    run(optimizer, gradients_of_steps(1))
    assert optimizer.average_weights() is None
    averaging = KerasOptimizer(keras.optimizers.SGD, 0.1, ema_momentum=0.9)
    averaging.build(make_weights())
    assert averaging.average_weights() is None


def test_fit_does_not_replace_the_weights_by_their_averages():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile(KerasOptimizer(keras.optimizers.SGD, 0.1, ema_momentum=0.9), "mse")
    random = np.random.default_rng(0)
    model.fit(random.normal(size=(16, 3)), random.normal(size=(16, 1)), batch_size=4, verbose=0)
    kernel, _ = model.optimizer.average_weights()
    assert np.all(np.abs(kernel - convert_to_numpy(model.layers[0].kernel)) > 1e-6)


def test_a_weight_without_a_gradient_is_an_error():
    weights = make_weights()
    for optimizer in (KerasOptimizer(keras.optimizers.SGD, 0.1), FlatAdam(0.1)):
        with pytest.raises(ValueError, match=r"Weights without a gradient: variable.*\. The loss must depend on all"):
            optimizer.apply([tf.zeros(shape) for shape in SHAPES[:-1]] + [None], weights)


@pytest.mark.parametrize("name", NAMES)
def test_optimiser_that_was_built_before_the_weights_are_loaded_makes_the_same_updates(name):
    config = TrainingConfig(optimizer=name, ema_momentum=0.9)
    early, late = (make_optimizer(config, total_updates=5) for _ in range(2))
    weights = [keras.Variable(keras.ops.zeros_like(weight)) for weight in make_weights()]
    early.build(weights)
    for weight, loaded in zip(weights, make_weights(), strict=True):
        weight.assign(loaded)
    values, all_expected = run(early, gradients_of_steps(2), weights), run(late, gradients_of_steps(2))
    for value, expected in zip(values, all_expected, strict=True):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("name", NAMES)
def test_optimiser_with_restored_variables_continues_bit_identical(name):
    arguments = NESTEROV if name == "sgd" else {}
    config = TrainingConfig(optimizer=name, optimizer_arguments=arguments, ema_momentum=0.9, schedule="linear")
    all_gradients = gradients_of_steps(4)
    first, second = (make_optimizer(config, total_updates=5) for _ in range(2))
    weights, other_weights = make_weights(), make_weights()
    run(first, all_gradients[:2], weights)
    second.build(other_weights)
    for variable, value in zip([*second.variables, *other_weights], [*first.variables, *weights], strict=True):
        variable.assign(value)
    expected, values = (run(one, all_gradients[2:], of) for one, of in ((first, weights), (second, other_weights)))
    for value, expected_value, before in zip(values, expected, make_weights(), strict=True):
        np.testing.assert_array_equal(value, expected_value)
        assert np.any(value != convert_to_numpy(before))
    for average, expected_average in zip(second.average_weights(), first.average_weights(), strict=True):
        np.testing.assert_array_equal(average, expected_average)


@pytest.mark.parametrize(
    "optimizer",
    [
        Nag(0.1, momentum=0.5, weight_decay=0.1),
        FlatAdam(0.1, 0.5, 0.9, 1e-3, clip_norm=2.0, ema_momentum=0.9, accumulates=True, exchange_dtype="bfloat16"),
        KerasOptimizer(Nag, WarmupDecay(0.1, "linear", 5, 10), clip_norm=2.0, momentum=0.5),
        KerasOptimizer(keras.optimizers.Adam, 0.1, ema_momentum=0.9, beta_1=0.5),
    ],
    ids=["nag", "flat_adam", "keras_nag", "keras_adam"],
)
def test_configuration_round_trip(optimizer):
    config = optimizer.get_config()
    assert type(optimizer).from_config(optimizer.get_config()).get_config() == config
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert type(again) is type(optimizer)
    assert again.get_config() == config


def test_configuration_chooses_the_optimiser_and_its_arguments():
    sgd = load_config("numbers", ["training.optimizer=sgd", "training.optimizer_arguments={momentum: .5}"]).training
    optimizer = make_optimizer(sgd, total_updates=9)
    assert (optimizer.schedule.total_updates, optimizer.clip_norm) == (9, 1.0)
    changed = run(optimizer, gradients_of_steps(3))
    expected = run(KerasOptimizer(keras.optimizers.SGD, optimizer.schedule, 1.0, momentum=0.5), gradients_of_steps(3))
    for one, other in zip(changed, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert type(make_optimizer(TrainingConfig(), 9)) is FlatAdam


def test_adadelta_equals_the_rule_of_its_paper():
    config = TrainingConfig(
        optimizer="adadelta", optimizer_arguments={"rho": 0.95}, epsilon=1e-6, learning_rate=1.0, clip_norm=None
    )
    all_gradients = gradients_of_steps(40)
    values = run(make_optimizer(config, 40), all_gradients)
    for index, weight in enumerate(map(convert_to_numpy, make_weights())):
        expected, squares, squared_changes = weight.astype("float64"), 0.0, 0.0
        for gradients in all_gradients:
            gradient = gradients[index].astype("float64")
            squares = 0.95 * squares + 0.05 * gradient**2
            change = -np.sqrt(squared_changes + 1e-6) / np.sqrt(squares + 1e-6) * gradient
            squared_changes = 0.95 * squared_changes + 0.05 * change**2
            expected = expected + change
        np.testing.assert_allclose(values[index], expected, atol=1e-5)
        assert np.any(np.abs(expected - weight) > 1e-3)


def test_nag_of_a_configuration_has_the_momentum_of_fairseq_by_default():
    gradients = gradients_of_steps(3)
    default, explicit, other = (
        run(make_optimizer(TrainingConfig(optimizer="nag", optimizer_arguments=arguments), 3), gradients)
        for arguments in ({}, {"momentum": 0.99}, {"momentum": 0.9})
    )
    for one, same, different in zip(default, explicit, other, strict=True):
        np.testing.assert_array_equal(one, same)
        assert np.all(one != different)


@pytest.mark.parametrize("name", ["keras_adam", "nadam"])
def test_configured_beta_reaches_the_optimisers_that_use_it(name):
    first, second = (
        run(make_optimizer(TrainingConfig(optimizer=name, beta_1=beta_1), 9), gradients_of_steps(3))
        for beta_1 in (0.9, 0.1)
    )
    assert any(np.any(one != other) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_every_optimiser_has_a_portable_form(name):
    training = TrainingConfig(optimizer=name, clip_norm=0.1, ema_momentum=0.22)  # shares of 0, 2/11 and .22
    own, portable = make_optimizer(training, 3), portable_optimizer(training, 3, updates_per_epoch=3)
    for one, other in zip(run(own, gradients_of_steps(3)), run(portable, gradients_of_steps(3)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    for one, other in zip(own.average_weights(), averages_of(portable), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert portable.get_config()["ema_momentum"] == 0.22


@pytest.mark.parametrize(
    ("name", "unread"),
    [
        ("adam", []),
        ("adamw", []),
        ("rmsprop", ["training.beta_1 0.8"]),
        ("sgd", ["training.beta_1 0.8", "training.epsilon 0.1"]),
    ],
)
def test_changes_that_a_class_does_not_read_are_named(name, unread):
    assert changes_without_effect(TrainingConfig(optimizer=name, beta_1=0.8, epsilon=0.1)) == unread


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (
            "schedulefreeadamw",
            {},
            r"is schedulefreeadamw, which is not offered\. Its average .* Use adamw, or adam with",
        ),
        ("sgdd", {}, rf"'sgdd', but should be one of {', '.join(NAMES)}\. Did you mean sgd\?"),
        ("sgd", {"momentun": 0.9}, r"'momentun', but sgd takes momentum, nesterov, weight_decay\. Did you mean"),
        ("sgd", {"global_clipnorm": 0.9}, r"has 'global_clipnorm'\. Set training\.clip_norm instead"),
        ("nag", {"nesterov": True}, r"'nesterov', but nag takes momentum, weight_decay\."),
        ("keras_adam", {"beta_1": 0.9}, r"has 'beta_1'\. Set training\.beta_1 instead"),
        ("adam", {"amsgrad": True}, r"'amsgrad', but adam takes no arguments"),
    ],
)
def test_wrong_names_are_refused_with_a_hint(name, arguments, message):
    with pytest.raises(ConfigError, match=message):
        check_optimizer(TrainingConfig(optimizer=name, optimizer_arguments=arguments))


def test_values_that_keras_refuses_are_explained():
    config = TrainingConfig(optimizer="sgd", optimizer_arguments={"momentum": 2.0})
    with pytest.raises(ConfigError, match=r"optimizer_arguments is \{'momentum': 2\.0\}, .* must be a float between"):
        make_optimizer(config, 9)
