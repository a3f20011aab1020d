"""Runs that accumulate gradients equal runs with larger batches, and resume in the middle of an accumulation."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from bytenet.csv_log import read_csv_log
from bytenet.errors import ConfigError, InputError
from bytenet.training import train
from bytenet.training.tasks import make_task

# The statistics of batch normalisation and draws of dropout would depend on the batches. Adam would turn the rounding
# of gradients near 0 into steps of the whole rate.
SETTINGS = (
    "model.encoder_normalization=layer", "training.schedule=linear", "training.warmup_steps=2", "training.epsilon=1e-3",
    "training.ema_momentum=0.5", "training.learning_rate=0.05", "training.clip_norm=0.3", "data.num_train=44",
)  # fmt: skip
NAG = ("training.optimizer=nag", "training.optimizer_arguments={momentum: 0.9}")


def weights_and_averages(arrays):
    """The weights of a checkpoint and their averages, without the numbers in their names."""
    weights = {name: value for name, value in arrays.items() if name.startswith("model/")}
    averages = {name.split("/", 2)[2]: value for name, value in arrays.items() if name.endswith("average")}
    assert averages
    return weights | averages


@pytest.fixture
def assert_alike(final_state):
    """Checks that two runs ended with nearly equal weights and averages; returns what the first run ended with."""

    def check(run, expected):
        (state, arrays), (_, expected_arrays) = final_state(run), final_state(expected)
        values, expected_values = map(weights_and_averages, (arrays, expected_arrays))
        assert values.keys() == expected_values.keys()
        assert len(values) > 10
        for name, value in expected_values.items():
            np.testing.assert_allclose(values[name], value, atol=1e-5, err_msg=name)
        logs = [read_csv_log(path / "metrics.csv") for path in (run, expected)]
        assert logs[0]["learning_rate"] == pytest.approx(logs[1]["learning_rate"], rel=1e-5)
        return state, arrays

    return check


@pytest.mark.parametrize(
    "settings",
    [
        ("training.loss=character",),
        ("training.loss=sentence", *NAG),
    ],
)
def test_batches_of_different_shapes_make_the_update_of_one_batch(
    smallest_config, assert_alike, eagerly, unmeasured, tmp_path, settings
):
    shapes = ("data.bucketing=optimal", "data.num_buckets=3", "data.bucket_min_size=8", "data.batch_size=8")
    several = smallest_config(*SETTINGS, *settings, *shapes, "training.accumulate_batches=99")
    plan = make_task(several).plan
    assert len(plan.shapes) > 1
    assert plan.num_batches > 5
    one = smallest_config(*SETTINGS, *settings, "data.batch_size=44")
    assert make_task(one).plan.num_batches == 1
    train(several, tmp_path / "several")
    train(one, tmp_path / "one")
    state, arrays = assert_alike(tmp_path / "several", tmp_path / "one")
    assert state["step"] == 2 * plan.num_batches
    assert next(value for name, value in arrays.items() if name.endswith("/iteration")) == 2


@pytest.mark.parametrize(
    "arithmetic",
    [
        pytest.param("training.jit_compile=true", marks=pytest.mark.thorough),
        "training.jit_compile=false",
    ],
)
def test_last_batches_of_an_epoch_make_an_update_of_their_own(
    smallest_config, assert_alike, unmeasured, tmp_path, capsys, arithmetic
):
    # Batches of 16, 16 and 12 pairs make the updates of batches of 32 and 12 pairs.
    config = smallest_config(*SETTINGS, "data.shuffle=none", "training.accumulate_batches=2", arithmetic)
    train(config, tmp_path / "accumulated")
    assert "one update of the weights for 2 batches: 2 updates an epoch, 4 in all" in capsys.readouterr().err
    train(smallest_config(*SETTINGS, "data.shuffle=none", "data.batch_size=32", arithmetic), tmp_path / "large")
    assert_alike(tmp_path / "accumulated", tmp_path / "large")


@pytest.mark.parametrize("step", [1, 4])
def test_run_stopped_in_the_middle_of_an_accumulation_resumes_bit_identical(
    smallest_config, equal_final_states, eagerly, unmeasured, interrupted, tmp_path, step
):
    config = smallest_config(*SETTINGS, "training.accumulate_batches=2", "model.dropout=0.2")
    train(config, tmp_path / "unbroken")
    with interrupted(step), pytest.raises(KeyboardInterrupt, match=f"step {step}; everything is saved"):
        train(config, tmp_path / "stopped")
    train(config, tmp_path / "stopped", resume=True)
    state, arrays = equal_final_states(tmp_path / "stopped", tmp_path / "unbroken")
    assert state["step"] == 6
    sums = [values for name, values in arrays.items() if name.endswith("gradient_sum")]
    assert len(sums) == 1
    assert not np.any(sums[0])


def test_run_that_ended_in_the_middle_of_an_accumulation_can_go_on(
    smallest_config, final_state, eagerly, unmeasured, tmp_path
):
    settings = (*SETTINGS, "training.schedule=constant", "training.accumulate_batches=2", "training.keep_model=last")
    config = smallest_config(*settings)
    train(config, tmp_path / "unbroken")
    short = smallest_config(*settings, "training.max_steps=4")
    train(short, tmp_path / "longer")
    _, arrays = final_state(tmp_path / "longer")
    pending = [values for name, values in arrays.items() if name.endswith("gradient_sum")]
    assert np.any(pending[0])
    train(config, tmp_path / "longer", resume=True)
    (state, values), (_, expected) = final_state(tmp_path / "longer"), final_state(tmp_path / "unbroken")
    assert state["step"] == 6
    assert not [name for name in expected if not np.array_equal(values[name], expected[name])]


@pytest.mark.parametrize(
    ("batches", "max_steps", "updates"), [(1, None, 6), (2, None, 4), (3, None, 2), (9, None, 2), (2, 5, 3), (2, 4, 2)]
)
def test_number_of_updates(smallest_config, batches, max_steps, updates):
    limit = f"training.max_steps={'null' if max_steps is None else max_steps}"
    task = make_task(smallest_config(limit, f"training.accumulate_batches={batches}"))
    assert task.plan.num_batches == 3
    assert task.total_updates == updates


def test_batches_of_an_update_stay_when_a_run_is_resumed(smallest_config, eagerly, unmeasured, tmp_path):
    """The schedule counts updates, and another number of batches would make another number of updates."""
    config = smallest_config("training.accumulate_batches=2", "training.max_steps=1")
    train(config, tmp_path / "run")
    for batches in (1, 3):
        other = replace(config, training=replace(config.training, accumulate_batches=batches, max_steps=3))
        with pytest.raises(InputError, match=rf"training\.accumulate_batches was 2 and is {batches}"):
            train(other, tmp_path / "run", resume=True)


def test_semi_supervised_training_is_refused(semi_config, tmp_path):
    with pytest.raises(
        ConfigError, match=r"accumulate_batches is 2, but should be 1 with semi_supervised\.enabled: .*"
    ):
        train(semi_config("training.accumulate_batches=2"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


TWO_DEVICES = """
import json, os, signal, sys
from pathlib import Path
import numpy as np
from bytenet.config import load_config
from bytenet.training import train
from bytenet.training.callbacks import StateKeeper
from bytenet.training.checkpoints import latest_checkpoint
from bytenet.training.compiled_models.model_pool import ModelPool
from bytenet.training.distribution.strategies import make_strategy

make_strategy(["CPU:0", "CPU:1"])
settings, pool = sys.argv[1:], ModelPool()
several = ["training.accumulate_batches=2", 'training.devices=["CPU:0","CPU:1"]']


def run(name, *overrides, **options):
    train(load_config("digits", [*settings, *overrides]), name, models=pool, **options)


def final_values(name):
    with np.load(latest_checkpoint(Path(name) / "checkpoints")) as saved:
        return {key: saved[key] for key in saved.files if key != "training_state"}


def weights_and_averages(values):
    averages = {key.split("/", 2)[2]: value for key, value in values.items() if key.endswith("average")}
    return {key: value for key, value in values.items() if key.startswith("model/")} | averages


run("large", "data.batch_size=32")
run("unbroken", *several)
count = StateKeeper.on_train_batch_end


def count_and_stop(self, batch, logs=None):
    count(self, batch, logs)
    if self._state.step == 4:
        os.kill(os.getpid(), signal.SIGTERM)


StateKeeper.on_train_batch_end = count_and_stop
try:
    run("stopped", *several)
except KeyboardInterrupt as stop:
    message = str(stop)
StateKeeper.on_train_batch_end = count
run("stopped", *several, resume=True)
large, unbroken, stopped = map(final_values, ("large", "unbroken", "stopped"))
expected, values = map(weights_and_averages, (large, unbroken))
print(json.dumps({
    "message": message,
    "compared": len(expected.keys() & values.keys()),
    "largest difference": max(float(abs(expected[key] - values[key]).max()) for key in expected),
    # A checkpoint has the sum of the loss over both devices, so that its parts are added in another order afterwards.
    "different loss": not np.allclose(*(run["metrics/0000/loss/total"] for run in (unbroken, stopped)), rtol=1e-6),
    "different bits": [
        name for name in unbroken
        if name != "metrics/0000/loss/total" and not np.array_equal(unbroken[name], stopped[name])
    ],
}))
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "optimizer", [pytest.param((), id="adam"), pytest.param(NAG, id="nag", marks=pytest.mark.slow)]
)
def test_accumulation_on_two_devices_equals_larger_batches_on_one(smallest_settings, tmp_path, optimizer):
    settings = (*smallest_settings, *SETTINGS, *optimizer, "data.shuffle=none", "training.deterministic=true")
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES, *settings], capture_output=True, text=True, timeout=280, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.split("\n")[-2])
    assert "step 4; everything is saved" in report["message"]
    assert report["compared"] > 10
    assert report["largest difference"] < 1e-5
    assert not report["different loss"]
    assert not report["different bits"]
