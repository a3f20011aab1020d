"""A killed and resumed run ends bit-identical to an uninterrupted run."""

import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from bytenet.csv_log import read_csv_log
from bytenet.training import train
from bytenet.training.checkpoints import checkpoints

# One process trains both runs, so that they share their traces.
RESUME_AND_TRAIN = """
import sys
from bytenet.config import load_config
from bytenet.training import train
from bytenet.training.compiled_models.model_pool import ModelPool

killed, unbroken, *overrides = sys.argv[1:]
config, pool = load_config("digits", overrides), ModelPool()
train(config, killed, resume=True, models=pool)
train(config, unbroken, models=pool)
"""


@pytest.mark.parametrize(
    "arithmetic",
    [
        pytest.param("training.deterministic=true", marks=pytest.mark.thorough),
        pytest.param("training.jit_compile=true", marks=pytest.mark.slow),
        pytest.param('training.devices=["CPU:0","CPU:1"]', marks=pytest.mark.slow),
    ],
)
def test_run_killed_mid_epoch_resumes_bit_identical(smallest_settings, equal_final_states, tmp_path, arithmetic):
    settings = (
        *smallest_settings, "data.num_train=800", "data.bucketing=optimal", "training.epochs=2",
        "training.checkpoint_every_steps=13", "training.keep_checkpoints=50", "training.ema_momentum=0.9",
        "model.dropout=0.2", arithmetic, "evaluation.continuous_every_steps=40",
        "evaluation.every_steps=20",
    )  # fmt: skip
    unbroken, killed = tmp_path / "unbroken", tmp_path / "killed"
    process = subprocess.Popen(
        [
            sys.executable, "-m", "bytenet", "train", "digits", "--run", killed, "--resume",
            *(f"--set={setting}" for setting in settings),
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path,
    )  # fmt: skip
    while process.poll() is None and not (killed / "checkpoints" / "step-00000026.npz").exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "the run ended before it could be killed"
    for checkpoint in checkpoints(killed / "checkpoints"):
        if int(checkpoint.stem.removeprefix("step-")) > 26:  # the machine killed it late
            checkpoint.unlink()

    done = subprocess.run(
        [sys.executable, "-c", RESUME_AND_TRAIN, killed, unbroken, *settings],
        capture_output=True, text=True, timeout=200, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "resumed from step-00000026.npz" in done.stderr

    state, _ = equal_final_states(killed, unbroken)
    assert state["step"] == 102
    assert (unbroken / "model.keras").exists()


def test_resuming_says_which_settings_changed_if_the_run_goes_on(
    smallest_config, eagerly, unmeasured, interrupted, tmp_path, capfd
):
    config = smallest_config("training.learning_rate=0.01")
    for step in (1, 2):
        with interrupted(step), pytest.raises(KeyboardInterrupt):
            train(config, tmp_path / "run", resume=True)
    assert "changed settings" not in capfd.readouterr().err
    longer = replace(
        config,
        training=replace(config.training, learning_rate=0.02, max_steps=3),
        decoding=replace(config.decoding, rerank_with="de-en"),
    )
    folder = train(longer, tmp_path / "run", resume=True)
    changes = "training.max_steps from None to 3, training.learning_rate from 0.01 to 0.02"
    changes += ", decoding.rerank_with from None to 'de-en'"
    assert f"changed settings: {changes}\n" in capfd.readouterr().err

    train(replace(longer, training=replace(longer.training, learning_rate=0.04)), folder.path, resume=True)
    assert folder.config == longer
    said = capfd.readouterr().err
    command = f"bytenet train --resume --run {folder.path} --set training.max_steps=N"
    assert f"This run is finished. To train longer, set training.max_steps to more than 3: {command}\n" in said
    assert "changed settings" not in said


@pytest.mark.parametrize(
    "settings",
    [
        ("training.optimizer=sgd", "training.optimizer_arguments={momentum: 0.9, nesterov: true}"),
        ("training.r_drop=5", "training.optimizer=sgd"),
        pytest.param(("training.optimizer=keras_adam", "training.learning_rate=0.01"), marks=pytest.mark.thorough),
    ],
)
def test_run_with_other_optimisers_or_r_drop_resumes_bit_identical(
    smallest_config, equal_final_states, eagerly, unmeasured, interrupted, tmp_path, settings
):
    config = smallest_config(
        *settings, "data.num_train=32", "training.schedule=linear", "training.ema_momentum=0.5", "model.dropout=0.2"
    )
    train(config, tmp_path / "unbroken")
    with interrupted(3), pytest.raises(KeyboardInterrupt, match="step 3; everything is saved"):
        train(config, tmp_path / "stopped")
    train(config, tmp_path / "stopped", resume=True)
    state, arrays = equal_final_states(tmp_path / "stopped", tmp_path / "unbroken")
    assert state["step"] == 4
    assert any(name.endswith("_average") for name in arrays)
    rates = read_csv_log(tmp_path / "stopped" / "metrics.csv")["learning_rate"]
    # The rate falls to 0 at the last of four steps. The log shows the rate of the next step.
    assert rates == pytest.approx([config.training.learning_rate / 4, 0.0], abs=1e-9)
