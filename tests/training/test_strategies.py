"""A batch split over two devices trains like a whole one."""

import json
import subprocess
import sys

import pytest

COMPARE = """
import json, sys
import keras, numpy as np, tensorflow as tf
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import ByteNet
from bytenet.private_api import build_loss_and_metrics
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.metrics import CharacterError
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.strategies import make_strategy, synchronize_batch_normalization
from bytenet.datasets import Pairs, Vocabulary, pair_lengths, plan_batches, training_dataset

make_strategy(["CPU:0", "CPU:1"])  # before TensorFlow starts
rng = np.random.default_rng(3)
texts = ["".join(rng.choice(list("abcde"), rng.integers(1, 12))) for _ in range(11)]
pairs = Pairs(texts, texts[::-1])
vocabulary = Vocabulary.from_texts(texts)


def one_step(strategy, optimizer, loss, dim):
    replicas = strategy.num_replicas_in_sync
    # Eleven pairs in a batch of twelve: the last row is a filler, so that the two halves are not alike.
    plan = plan_batches(pair_lengths(pairs, vocabulary), batch_size=12, replicas=2, bucketing="none")
    with strategy.scope():
        keras.utils.set_random_seed(5)
        model = ByteNet(ByteNetConfig(dim=dim, num_sets=1, dilations=(1, 2)), vocabulary.size)
        model.build({"source_ids": (None, None), "target_ids": (None, None)})
        if replicas > 1:
            synchronize_batch_normalization(model)
        model.compile(optimizer(), SentenceCrossEntropy(), metrics=[CharacterError()], jit_compile=False)
        model.optimizer.build(model.trainable_variables)
        build_loss_and_metrics(
            model, keras.KerasTensor((None, None), "int32"), keras.KerasTensor((None, None, 8), "float32")
        )
    before = model.get_weights()
    data = training_dataset(pairs, vocabulary, plan, seed=1, loss=loss)
    history = model.fit(data, steps_per_epoch=1, verbose=0, shuffle=False).history
    changes = [new - old for new, old in zip(model.get_weights(), before)]
    return {name: values[0] for name, values in history.items()}, changes, model


report = {}
for loss in ("sentence", "character"):
    # Plain gradient descent with rate 1 changes the weights by the gradient itself.
    # Models of different sizes, one after the other, as processes train them that stay.
    for name, (dim, optimizer) in {
        "gradient": (8, lambda: keras.optimizers.SGD(1.0)),
        "clipped": (6, lambda: FlatAdam(1e-3, epsilon=1e-3, clip_norm=0.1, ema_momentum=0.9)),
    }.items():
        two_devices = make_strategy(["CPU:0", "CPU:1"])
        logs_one, changes_one, model_one = one_step(tf.distribute.get_strategy(), optimizer, loss, dim)
        logs_two, changes_two, model_two = one_step(two_devices, optimizer, loss, dim)
        report[f"{loss} {name}"] = {
            "logs": [logs_one, logs_two],
            "largest_change": max(float(abs(c).max()) for c in changes_one),
            "largest_difference": max(float(abs(a - b).max()) for a, b in zip(changes_one, changes_two)),
            "replicas": two_devices.num_replicas_in_sync,
        }
        if name == "clipped":
            norms = [float(keras.ops.convert_to_numpy(m.optimizer.gradient_norm)) for m in (model_one, model_two)]
            report[f"{loss} {name}"]["norms"] = norms
print(json.dumps(report))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What one and two devices made of the same batch, in a process of its own: devices are made at its start."""
    done = subprocess.run(
        [sys.executable, "-c", COMPARE], capture_output=True, text=True, timeout=250,
        cwd=tmp_path_factory.mktemp("elsewhere"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.split("\n")[-2])


@pytest.mark.parametrize("loss", ["sentence", "character"])
@pytest.mark.parametrize("optimizer", ["gradient", "clipped"])
def test_loss_and_gradients_are_those_of_one_device(report, loss, optimizer):
    found = report[f"{loss} {optimizer}"]
    one, two = found["logs"]
    assert found["replicas"] == 2
    assert two == pytest.approx(one, abs=1e-5)
    assert found["largest_change"] > 1e-4
    assert found["largest_difference"] < 1e-5


@pytest.mark.parametrize("loss", ["sentence", "character"])
def test_the_gradient_is_clipped_as_a_whole(report, loss):
    one, two = report[f"{loss} clipped"]["norms"]
    assert one > 0.1, "nothing was clipped"
    assert two == pytest.approx(one, rel=1e-5)
