"""To the last bit: pairs alone, a run that was stopped, a model used again; and two devices against one."""

import json
import subprocess
import sys

import numpy as np
import pytest

# Runs on short pairs, in a process of its own, as devices and determinism are settings of a whole process.
RUNS = """
import json, os, signal, sys
from pathlib import Path
import keras, numpy as np
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
    "semi_supervised.enabled=true", "semi_supervised.beam_size=2", "semi_supervised.bucketing=none",
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

ALONE = """
pool = ModelPool()
no_text = [f"semi_supervised.{side}_weight=0.0" for side in ("source", "target")]
run("weights 0", config(*SEMI, *TEXT, *no_text), models=pool)
run("no text", config(*SEMI), models=pool)
run("forward", config(), models=pool)
run("backward", config("data.reversed=true"), models=pool)
"""

# Two runs with one pool, the second of which is stopped; what it should come to is trained and resumed without.
STOPPED = """
pool = ModelPool()
semi = [*SEMI, *TEXT, "semi_supervised.ramp_steps=5"]
run("first", config(*semi, "training.seed=4", "semi_supervised.source_weight=3.0", pairs="others"), models=pool)
run_and_stop("stopped", config(*semi), step=5, models=pool)
run("stopped", config(*semi), resume=True)
run("unbroken", config(*semi))
run("pooled", config(*semi), models=pool)
"""

DEVICES = """
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
        Path(self.name, "devices.json").write_text(json.dumps({"replicas": replicas, "devices": devices}))


# One step on all pairs and all text, odd numbers of both, so that a replica has a filler row.
settings = [
    *SEMI, *TEXT, "training.max_steps=1", "training.deterministic=false", "model.dropout=0.0",
    "training.jit_compile=false", "training.clip_norm=null", "data.max_train_pairs=21", "data.batch_size=32",
    "semi_supervised.batch_size=16",
]
both = 'training.devices=["CPU:0","CPU:1"]'
for name, more in (("one", []), ("replicated", [both]), ("apart", [both, "semi_supervised.placement=apart"])):
    run(name, config(*settings, *more), more_callbacks=[Recorder(name)])
"""


def run_script(script, folder):
    done = subprocess.run(
        [sys.executable, "-c", RUNS + script], capture_output=True, text=True, timeout=1500, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def final_state(run):
    """What the last checkpoint of a run holds: the state without its times, and the variables."""
    (path,) = (run / "checkpoints").glob("*.npz")
    with np.load(path) as saved:
        arrays = {name: saved[name] for name in saved.files}
    state = json.loads(arrays.pop("training_state").tobytes())
    del state["seconds"]
    return state, arrays


def assert_same(run, expected):
    state, arrays = final_state(run)
    expected_state, expected_arrays = final_state(expected)
    assert state == expected_state
    assert arrays.keys() == expected_arrays.keys()
    assert not [name for name in arrays if not np.array_equal(arrays[name], expected_arrays[name])]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Folders of runs without monolingual text."""
    return run_script(ALONE, tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Folders of runs that were stopped, resumed, and trained with models of others."""
    return run_script(STOPPED, tmp_path_factory.mktemp("stopped"))


@pytest.mark.parametrize("run", ["weights 0", "no text"])
def test_without_text_the_two_are_two_supervised_runs(alone, run):
    """Weights, running statistics, random states and optimisers of the pair are those of one run and the other."""
    state, arrays = final_state(alone / run)
    supervised = [final_state(alone / direction) for direction in ("forward", "backward")]
    assert [of_run["step"] for of_run, _ in supervised] == [state["step"]] * 2 == [9, 9]
    for group in ("model/", "optimizer/"):
        of_pair = [value for name, value in arrays.items() if name.startswith(group)]
        of_both = [value for _, of_run in supervised for name, value in of_run.items() if name.startswith(group)]
        assert sorted(map(identity, of_pair)) == sorted(map(identity, of_both))
    for part, direction in (("", "forward"), ("backward", "backward")):
        assert_models_are_equal(alone / run / part, alone / direction)


def identity(array):
    return array.shape, str(array.dtype), array.tobytes()


def assert_models_are_equal(run, expected):
    from bytenet.run_folder import RunFolder

    models = [RunFolder.open(folder).load_model() for folder in (run, expected)]
    for one, other in zip(*(model.weights for model in models), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=one.path)


def test_a_run_that_was_stopped_and_resumed_ends_as_the_one_that_was_not(stopped):
    state, _ = final_state(stopped / "unbroken")
    assert state["step"] == 9
    assert_same(stopped / "stopped", stopped / "unbroken")
    for direction in ("", "backward"):
        assert_models_are_equal(stopped / "stopped" / direction, stopped / "unbroken" / direction)
    rows = [(stopped / name / "metrics.csv").read_text().splitlines() for name in ("stopped", "unbroken")]
    assert len(rows[0]) == len(rows[1]) == 4
    for one, other in zip(*rows, strict=True):  # all but the seconds
        assert one.split(",")[:2] + one.split(",")[3:] == other.split(",")[:2] + other.split(",")[3:]


def test_a_run_with_the_models_of_another_ends_as_one_with_its_own(stopped):
    assert_same(stopped / "pooled", stopped / "unbroken")
    with pytest.raises(AssertionError):
        assert_same(stopped / "first", stopped / "unbroken")


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    """Folders of the same step on one device, on two that share each batch, and with a translator on each."""
    return run_script(DEVICES, tmp_path_factory.mktemp("devices"))


@pytest.mark.parametrize("placement", ["replicated", "apart"])
def test_loss_and_gradients_on_two_devices_are_those_of_one(devices, placement):
    _, arrays = final_state(devices / "one")
    _, others = final_state(devices / placement)
    moments = [name for name in arrays if name.endswith("first_moment")]
    assert len(moments) == 2
    for name in moments:  # a tenth of the gradient
        assert np.abs(arrays[name]).max() > 1e-3
        np.testing.assert_allclose(others[name], arrays[name], atol=1e-6)
    columns, *rows = (
        (devices / name / "metrics.csv").read_text().splitlines()[number].split(",")
        for name, number in (("one", 0), ("one", 1), (placement, 1))
    )
    for name in ("loss", "backward_loss", "source_marginal", "target_marginal", "character_error"):
        one, two = (float(row[columns.index(name)]) for row in rows)
        assert two == pytest.approx(one, rel=1e-5), name


def test_each_translator_is_on_its_device(devices):
    found = {name: json.loads((devices / name / "devices.json").read_text()) for name in ("replicated", "apart")}
    assert found["replicated"]["replicas"] == 2
    assert found["apart"]["replicas"] == 1
    for direction, number in (("forward", 0), ("backward", 1)):
        (device,) = found["apart"]["devices"][direction]
        assert device.endswith(f"device:CPU:{number}")
