"""A batch that is split over two devices trains like a whole batch."""

import json
import subprocess
import sys

import pytest

from bytenet.config import load_config
from bytenet.errors import ConfigError, InputError
from bytenet.training.distribution.strategies import check_devices, make_strategy
from bytenet.training.tasks import make_task, task
from bytenet.training.tasks.pairs import in_memory

from .test_workers import CASES, check_like_one, trained

LOSSES = ("sentence", "character")
OPTIMISERS = ("flat adam", "keras adam", "nesterov")
COMPARE = (
    f"LOSSES = {LOSSES}"
    + """
import json, sys
import keras, numpy as np, tensorflow as tf
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.layers import MaskedBatchNormalization
from bytenet.models import ByteNet
from bytenet.private_api import build_loss_and_metrics
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.metrics import CharacterError
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.optimizers.keras_optimizer import KerasOptimizer
from bytenet.training.distribution.batch_statistics import average_statistics, synchronize_batch_normalization
from bytenet.training.distribution.strategies import make_strategy
from bytenet.datasets import Pairs, Vocabulary, pair_lengths, plan_batches, training_dataset

make_strategy(["CPU:0", "CPU:1"])  # before TensorFlow starts
rng = np.random.default_rng(3)
texts = ["".join(rng.choice(list("abcde"), rng.integers(1, 12))) for _ in range(11)]
pairs = Pairs(texts, texts[::-1])
vocabulary = Vocabulary.from_texts(texts)


def a_step_of_each_loss(strategy):
    # Plain gradient descent with rate 1 changes the weights by the gradient itself.
    replicas = strategy.num_replicas_in_sync
    # Eleven pairs in a batch of twelve: the last row is a filler, so that the two halves are not alike.
    plan = plan_batches(pair_lengths(pairs, vocabulary), batch_size=12, replicas=2, bucketing="none")
    with strategy.scope():
        keras.utils.set_random_seed(5)
        model = ByteNet(ByteNetConfig(dim=8, num_sets=1, dilations=(1,)), vocabulary.size)
        model.build({"source_ids": (None, None), "target_ids": (None, None)})
        if replicas > 1:
            synchronize_batch_normalization(model)
        model.compile(keras.optimizers.SGD(1.0), SentenceCrossEntropy(), metrics=[CharacterError()], jit_compile=False)
        model.optimizer.build(model.trainable_variables)
        build_loss_and_metrics(
            model, keras.KerasTensor((None, None), "int32"), keras.KerasTensor((None, None, 8), "float32")
        )
    first_weights, results = model.get_weights(), {}
    for loss in LOSSES:
        model.set_weights(first_weights)
        results[loss] = fit(model, training_dataset(pairs, vocabulary, plan, seed=1, loss=loss), steps=1)
    return results


def some_steps(strategy, optimizer):
    # What an optimiser does with gradients does not depend on the model.
    with strategy.scope():
        keras.utils.set_random_seed(5)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(2)])
        model.compile(optimizer(), "mse", jit_compile=False)
        model.optimizer.build(model.trainable_variables)
    inputs = np.random.default_rng(4).normal(size=(36, 3)).astype("float32")
    return fit(model, tf.data.Dataset.from_tensor_slices((inputs, np.exp(inputs[:, :2]))).batch(12), steps=3)


def fit(model, dataset, steps):
    before = model.get_weights()
    history = model.fit(dataset, steps_per_epoch=steps, verbose=0, shuffle=False).history
    changes = [new - old for new, old in zip(model.get_weights(), before)]
    return {name: values[0] for name, values in history.items()}, changes, model


def compare(one, two):
    (logs_one, changes_one, model_one), (logs_two, changes_two, model_two) = one, two
    return model_one, model_two, {
        "logs": [logs_one, logs_two],
        "largest_change": max(float(abs(c).max()) for c in changes_one),
        "largest_difference": max(float(abs(a - b).max()) for a, b in zip(changes_one, changes_two)),
        "replicas": model_two.distribute_strategy.num_replicas_in_sync,
    }


def running_means(compiled):
    # Those of both devices after a step, in which the means of their rows are (1, 2, 3) and (3, 6, 9).
    with two_devices.scope():
        model = keras.Sequential([keras.Input((3,)), MaskedBatchNormalization(momentum=0.0)])
    rows = [[[0.0, 0.0, 0.0], [2.0, 4.0, 6.0]], [[3.0, 6.0, 9.0]] * 2]
    inputs = two_devices.experimental_distribute_values_from_function(
        lambda context: tf.constant(rows[context.replica_id_in_sync_group])
    )
    call = tf.function(lambda values: model(values, training=True), jit_compile=compiled, autograph=False)

    def step(values):
        call(values)
        average_statistics(model)

    tf.function(lambda values: two_devices.run(step, args=(values,)))(inputs)
    copies = two_devices.experimental_local_results(model.layers[0].moving_mean.value)
    return [copy.numpy().tolist() for copy in copies]


def bfloat16():
    return KerasOptimizer(keras.optimizers.SGD, 0.1, exchange_dtype="bfloat16")


limits = {"clip_norm": 0.1, "ema_momentum": 0.9}
optimizers = {
    "flat adam": lambda: FlatAdam(1e-2, epsilon=1e-3, **limits),
    "keras adam": lambda: KerasOptimizer(keras.optimizers.Adam, 1e-2, epsilon=1e-3, **limits),
    "nesterov": lambda: KerasOptimizer(keras.optimizers.SGD, 0.1, momentum=0.9, nesterov=True, **limits),
}
one_device, two_devices = tf.distribute.get_strategy(), make_strategy(["CPU:0", "CPU:1"])
report = {}
both = [a_step_of_each_loss(strategy) for strategy in (one_device, two_devices)]
for loss in LOSSES:
    _, _, report[loss] = compare(*(results[loss] for results in both))
# Another model, as in a process that trains one after the other.
for name, optimizer in optimizers.items():
    *models, report[name] = compare(*(some_steps(strategy, optimizer) for strategy in (one_device, two_devices)))
    report[name]["norms"] = [float(keras.ops.convert_to_numpy(model.optimizer.gradient_norm)) for model in models]
    averages = [np.concatenate([part.ravel() for part in model.optimizer.average_weights()]) for model in models]
    weights = np.concatenate([np.ravel(weight) for weight in models[0].trainable_variables])
    report[name]["average_difference"] = float(abs(averages[0] - averages[1]).max())
    report[name]["average_change"] = float(abs(averages[0] - weights).max())
report["bfloat16"] = compare(*(some_steps(strategy, bfloat16) for strategy in (one_device, two_devices)))[2]
report["statistics"] = {str(compiled): running_means(compiled) for compiled in (False, True)}
print(json.dumps(report))
"""
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Results of one batch on one and two devices. A separate process makes the devices at its start."""
    done = subprocess.run(
        [sys.executable, "-c", COMPARE], capture_output=True, text=True, timeout=250,
        cwd=tmp_path_factory.mktemp("elsewhere"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.split("\n")[-2])


@pytest.mark.thorough
@pytest.mark.parametrize("case", [*LOSSES, *OPTIMISERS])
def test_loss_and_weights_equal_training_on_one_device(report, case):
    one, two = report[case]["logs"]
    assert report[case]["replicas"] == 2
    assert two == pytest.approx(one, abs=1e-5)
    assert report[case]["largest_change"] > 1e-4
    assert report[case]["largest_difference"] < 1e-5


@pytest.mark.thorough
@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_two_devices_clip_the_whole_gradient_and_average_the_weights(report, optimiser):
    one, two = report[optimiser]["norms"]
    assert one > 0.1, "nothing was clipped"
    assert two == pytest.approx(one, rel=1e-5)
    assert report[optimiser]["average_difference"] < 1e-5
    assert report[optimiser]["average_change"] > 1e-5


@pytest.mark.thorough
def test_gradients_may_be_exchanged_in_bfloat16(report):
    largest = report["bfloat16"]["largest_change"]
    assert largest / 2**16 < report["bfloat16"]["largest_difference"] < largest / 2**6


@pytest.mark.thorough
@pytest.mark.parametrize("compiled", ["False", "True"])
def test_devices_average_the_running_statistics_of_their_own_rows(report, compiled):
    assert report["statistics"][compiled] == [[2.0, 4.0, 6.0]] * 2


@pytest.mark.thorough
def test_xla_compiles_the_gradients_of_two_devices(tmp_path):
    compiled = CASES["compiled"]
    # The devices come first, as they can only be made before TensorFlow starts.
    cases = {"two": [*compiled, 'training.devices=["CPU:0","CPU:1"]'], "one": compiled}
    results = trained(tmp_path, cases, 1)
    check_like_one(results["one"][0], results["two"])


@pytest.mark.parametrize(
    ("settings", "obstacle"),
    [
        ((), "batch normalisation takes its statistics over all 2 devices"),
        (("model.encoder_normalization=layer",), None),
        (("model.variant=selu",), None),
        (("training.sync_batch_norm=false",), None),
        (("model.variant=selu", "training.deterministic=true"), "training.deterministic is true"),
        (("semi_supervised.enabled=true",), "semi-supervised training uses several devices"),
    ],
)
def test_xla_compiles_what_does_not_wait_for_other_devices(monkeypatch, settings, obstacle):
    monkeypatch.setattr(task.Task, "replicas", 2)
    monkeypatch.setattr(task, "set_up_keras", lambda config: None)
    made = make_task(load_config("digits", ["data.num_train=20", "data.num_monolingual=20", *settings]))
    found = made._obstacle_to_compiling
    assert (found is None) == (obstacle is None)
    assert obstacle is None or obstacle in found


@pytest.mark.parametrize("check", [check_devices, make_strategy])
def test_a_device_that_is_named_twice_is_refused(check):
    with pytest.raises(
        ConfigError, match=r"^training\.devices is \['CPU:0', 'CPU:0'\], with 'CPU:0' twice\. Name each"
    ):
        check(("CPU:0", "CPU:0"))


@pytest.mark.parametrize("name", ["GPU:9", "CPU:²"])
def test_a_device_that_does_not_exist_is_refused(name):
    with pytest.raises(ConfigError, match=rf"^training\.devices names '{name}', but this machine has CPU:0"):
        check_devices((name,))


def test_devices_are_made_before_the_corpus_is_read(monkeypatch):
    """Reading text may start TensorFlow, and then no logical devices can be made."""
    calls = []

    def read_corpus(data):
        calls.append("corpus")
        raise InputError("no corpus")

    def make_devices(devices):
        calls.append("devices")
        return make_strategy(devices)

    monkeypatch.setattr(task, "make_strategy", make_devices)
    monkeypatch.setattr(in_memory, "read_corpus", read_corpus)
    with pytest.raises(InputError, match="no corpus"):
        make_task(load_config("numbers"))
    assert calls == ["devices", "corpus"]
