"""To the last bit: pairs alone, a run that was stopped, a model used again; and two devices against one."""

import json
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.thorough

# Runs on short pairs, in a process of its own, as devices and determinism are settings of a whole process.
RUNS = """
import collections, json, os, signal, sys
from pathlib import Path
import keras, numpy as np, tensorflow as tf
from bytenet.config import load_config
from bytenet.training import train
from bytenet.training.callbacks import StateKeeper
from bytenet.training.model_pool import ModelPool
from bytenet.training.strategies import make_strategy

make_strategy(["CPU:0", "CPU:1"])
random = np.random.default_rng(2)


def write(name, count, letters):
    lines = ["".join(random.choice(list(letters), random.integers(1, 5))) for _ in range(count)]
    Path(name).write_text("".join(line + "\\n" for line in lines), encoding="utf-8")


for name, letters in (("source", "abc"), ("target", "xyz")):
    write("pairs." + name, 22, letters)  # the last batch is not full
    write("others." + name, 22, letters)
    write("text." + name, 13, letters)
Path("settings.yaml").write_text("{}\\n", encoding="utf-8")
BASE = [
    "data.corpus=files", "data.bucketing=none", "data.batch_size=8", "model.dim=4", "model.num_sets=1",
    "model.dilations=[1]", "model.dropout=0.2", "training.epochs=3", "training.schedule=linear",
    "training.warmup_steps=0", "training.ema_momentum=0.9", "training.keep_model=last", "training.deterministic=true",
    "evaluation.continuous_every_seconds=null", "training.keep_checkpoints=1", "model.unfold_scale=1.0",
    "model.unfold_offset=3",
]
SEMI = [
    "semi_supervised.enabled=true", "semi_supervised.beam_size=1", "semi_supervised.bucketing=none",
    "semi_supervised.batch_size=4",
]
TEXT = [f"data.monolingual_{side}=text.{side}" for side in ("source", "target")]


def config(*overrides, pairs="pairs"):
    files = [f"data.train_{side}={pairs}.{side}" for side in ("source", "target")]
    return load_config("settings.yaml", [*BASE, *files, *overrides])


def run(name, config, **options):
    train(config, name, **options)


def run_and_stop(name, config, step, **options):
    count = StateKeeper.on_train_batch_end

    def count_and_stop(self, batch, logs=None):
        count(self, batch, logs)
        if self._state.step == step:
            os.kill(os.getpid(), signal.SIGTERM)

    StateKeeper.on_train_batch_end = count_and_stop
    try:
        train(config, name, **options)
    except KeyboardInterrupt:
        return
    finally:
        StateKeeper.on_train_batch_end = count
    raise AssertionError("the run was not stopped")
"""

WITHOUT_TEXT = """
# TensorFlow adds up sums in another order where it knows the shapes of a graph, as those of a pair, and in the last
# bits that shows.
tf.config.optimizer.set_experimental_options({"arithmetic_optimization": False})
pool = ModelPool()
no_text = [f"semi_supervised.{side}_weight=0.0" for side in ("source", "target")]
run("weights 0", config(*SEMI, *TEXT, *no_text), models=pool)
run("forward", config(), models=pool)
run("backward", config("data.reversed=true"), models=pool)
"""

RESUMED = """
# A run with the models of another, and the same run with models of its own, stopped in the middle of an epoch.
pool = ModelPool()
semi = [*SEMI, *TEXT, "semi_supervised.ramp_steps=5"]
run("first", config(*semi, "training.seed=4", "semi_supervised.source_weight=3.0", pairs="others"), models=pool)
run("unbroken", config(*semi), models=pool)
pool = ModelPool()
run_and_stop("stopped", config(*semi), step=5, models=pool)
run("stopped", config(*semi), models=pool, resume=True)
"""

DEVICES = """
# Results are compared up to rounding, and the optimisation of graphs takes a fifth of the time.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


def products(pair):
    # By part of a step, how many matrix products and convolutions of its graph are placed where.
    ids, weights = tf.ones([2, 3], tf.int32), tf.ones([2])
    pairs = {"source_ids": ids, "target_ids": ids, "forward_weights": weights, "backward_weights": weights}
    text = pair.text_gradients
    graphs = {
        "pairs": tf.function(lambda: pair._learn_from_pairs(pairs, {}, {})).get_concrete_function().graph,
        "text": tf.function(lambda: text.loss_and_gradients((ids, weights), "source", 3)).get_concrete_function().graph,
    }
    return {
        part: collections.Counter(op.device for op in graph.get_operations() if op.type.startswith(("MatMul", "Conv")))
        for part, graph in graphs.items()
    }


class Recorder(keras.callbacks.Callback):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def on_train_end(self, logs=None):
        devices = {
            direction: sorted({variable.value.device for variable in [*model.variables, *model.optimizer.variables]})
            for direction, model in (("forward", self.model.forward), ("backward", self.model.backward))
        }
        replicas = self.model.distribute_strategy.num_replicas_in_sync
        report = {"replicas": replicas, "devices": devices}
        if self.name == "apart":
            report["products"] = products(self.model)
        Path(self.name, "devices.json").write_text(json.dumps(report))


# Two steps on all pairs and all text, odd numbers of both, so that a replica has a filler row. With a large epsilon the
# first step is as good as linear in the gradient: else a gradient of about 0 may come out on either side of it.
settings = [
    *SEMI, *TEXT, "training.max_steps=2", "training.deterministic=false", "model.dropout=0.0", "training.epsilon=0.01",
    "training.jit_compile=false", "training.clip_norm=null", "data.max_train_pairs=21", "data.batch_size=32",
    "semi_supervised.batch_size=16",
]
both = 'training.devices=["CPU:0","CPU:1"]'
placements = {"one": [], "apart": [both, "semi_supervised.placement=apart"], "replicated": [both]}
for name in sys.argv[1:]:
    tf.config.run_functions_eagerly(name == "one")  # two steps are quicker without tracing
    run(name, config(*settings, *placements[name]), more_callbacks=[Recorder(name)])
"""


def run_script(script, folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", RUNS + script, *arguments], capture_output=True, text=True, timeout=1500, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def test_with_weights_of_0_the_two_are_two_supervised_runs(tmp_path, final_state):
    """Weights, running statistics, random states and optimisers of the pair are those of one run and the other."""
    same = run_script(WITHOUT_TEXT, tmp_path)
    state, arrays = final_state(same / "weights 0")
    supervised = [final_state(same / direction) for direction in ("forward", "backward")]
    assert [of_run["step"] for of_run, _ in supervised] == [state["step"]] * 2 == [9, 9]
    for group in ("model/", "optimizer/"):
        of_pair = [value for name, value in arrays.items() if name.startswith(group)]
        of_both = [value for _, of_run in supervised for name, value in of_run.items() if name.startswith(group)]
        assert sorted(map(identity, of_pair)) == sorted(map(identity, of_both))
    for part, direction in (("", "forward"), ("backward", "backward")):
        assert_models_are_equal(same / "weights 0" / part, same / direction)


def identity(array):
    return array.shape, str(array.dtype), array.tobytes()


def assert_models_are_equal(run, expected):
    from bytenet.run_folder import RunFolder

    models = [RunFolder.open(folder).load_model() for folder in (run, expected)]
    for one, other in zip(*(model.weights for model in models), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=one.path)


def test_a_run_stopped_and_resumed_ends_as_one_that_was_not_and_that_had_the_models_of_another(tmp_path, final_state):
    same = run_script(RESUMED, tmp_path)
    state, arrays = final_state(same / "unbroken")
    resumed_state, resumed_arrays = final_state(same / "stopped")
    assert resumed_state == state
    assert state["step"] == 9
    assert arrays.keys() == resumed_arrays.keys()
    assert not [name for name in arrays if not np.array_equal(arrays[name], resumed_arrays[name])]
    for part in ("", "backward"):
        assert_models_are_equal(same / "stopped" / part, same / "unbroken" / part)
    rows, resumed_rows = (
        [row.split(",") for row in (same / name / "metrics.csv").read_text().splitlines()]
        for name in ("unbroken", "stopped")
    )
    assert len(rows) == 4
    assert rows[0][2] == "seconds"
    for row in (*rows, *resumed_rows):
        del row[2]
    assert resumed_rows == rows
    # What comes of the other run is another, so that something can be seen.
    _, others = final_state(same / "first")
    assert [name for name in arrays if name in others and not np.array_equal(arrays[name], others[name])]


@pytest.fixture(scope="module", params=["apart", "replicated"])
def placement(request):
    """Two devices have a translator each, or share each batch."""
    return request.param


@pytest.fixture(scope="module")
def devices(placement, tmp_path_factory):
    """Folders of the same two steps on one device, and on two with that placement."""
    return run_script(DEVICES, tmp_path_factory.mktemp("devices"), "one", placement)


def test_losses_gradients_and_weights_on_two_devices_are_those_of_one(devices, final_state, placement):
    _, arrays = final_state(devices / "one")
    _, others = final_state(devices / placement)
    moments = [name for name in arrays if name.endswith("first_moment")]
    weights = [name for name in arrays if name.startswith("model/")]
    assert (len(moments), len(weights) > 10) == (2, True)
    for name in moments:  # tenths of the gradients, the second of which is that of the weights after the first step
        assert np.abs(arrays[name]).max() > 1e-3
    for name in (*moments, *weights):
        np.testing.assert_allclose(others[name], arrays[name], atol=1e-6, err_msg=name)
    (columns, *epochs), (_, *others_epochs) = (
        [line.split(",") for line in (devices / name / "metrics.csv").read_text().splitlines()]
        for name in ("one", placement)
    )
    for name in ("loss", "backward_loss", "source_marginal", "target_marginal", "character_error"):
        one, two = ([float(row[columns.index(name)]) for row in rows] for rows in (epochs, others_epochs))
        assert len(one) == 2
        assert two == pytest.approx(one, rel=1e-5), name


def test_each_translator_is_on_its_device_or_on_both(devices, placement):
    report = json.loads((devices / placement / "devices.json").read_text())
    assert report["replicas"] == {"apart": 1, "replicated": 2}[placement]
    if placement == "apart":
        for direction, number in (("forward", 0), ("backward", 1)):
            (device,) = report["devices"][direction]
            assert device.endswith(f"device:CPU:{number}")


@pytest.mark.parametrize("placement", ["apart"], indirect=True)
def test_each_translator_computes_on_its_device(devices):
    """Both do the same with the pairs; with source text the forward one searches, too."""
    products = json.loads((devices / "apart" / "devices.json").read_text())["products"]
    pairs, text, first, second = products["pairs"], products["text"], "/device:CPU:0", "/device:CPU:1"
    assert pairs.keys() == text.keys() == {first, second}
    assert pairs[first] == pairs[second] > 0
    assert text[first] > text[second] > pairs[second] / 2
