"""A run that was killed ends as the run that was not, to the last bit."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from bytenet.training.checkpoints import checkpoints


def start(smallest_settings, run, *settings):
    overrides = [f"--set={setting}" for setting in (*smallest_settings, *settings)]
    return subprocess.Popen(
        [sys.executable, "-m", "bytenet", "train", "digits", "--run", str(run), "--resume", *overrides],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=run.parent,
    )  # fmt: skip


def finish(process):
    _, messages = process.communicate(timeout=200)
    assert process.returncode == 0, messages


@pytest.mark.parametrize(
    "arithmetic",
    [
        "training.deterministic=true",
        pytest.param("training.jit_compile=true", marks=pytest.mark.slow),
        pytest.param('training.devices=["CPU:0","CPU:1"]', marks=pytest.mark.slow),
    ],
)
def test_killed_in_the_middle_of_an_epoch_it_ends_bit_identical(smallest_settings, final_state, tmp_path, arithmetic):
    settings = (
        "data.num_train=800", "training.epochs=2", "training.checkpoint_every_steps=13", "training.keep_checkpoints=50",
        "training.ema_momentum=0.9", "model.dropout=0.2", arithmetic,
        "evaluation.continuous_every_steps=40",
    )  # fmt: skip
    unbroken, killed = tmp_path / "unbroken", tmp_path / "killed"
    process = start(smallest_settings, killed, *settings)
    while process.poll() is None and not (killed / "checkpoints" / "step-00000026.npz").exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "the run ended before it could be killed"
    for checkpoint in checkpoints(killed / "checkpoints"):
        if int(checkpoint.stem.removeprefix("step-")) > 26:  # the machine was slow to kill it
            checkpoint.unlink()

    finish(start(smallest_settings, killed, *settings))
    finish(start(smallest_settings, unbroken, *settings))

    state, arrays = final_state(unbroken)
    resumed_state, resumed_arrays = final_state(killed)
    assert resumed_state == state
    assert state["step"] == 102
    assert arrays.keys() == resumed_arrays.keys()
    differing = [name for name in arrays if not np.array_equal(arrays[name], resumed_arrays[name])]
    assert not differing
    assert (unbroken / "model.keras").exists()
