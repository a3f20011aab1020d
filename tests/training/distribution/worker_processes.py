"""Workers in their own processes, on this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bytenet.training.distribution.launcher import free_addresses
from tests.waiting import wait_for

# Trains cases one after the other, and saves all variables of this worker at the end of each.
TRAIN = """
import json, sys
import keras, numpy as np
from bytenet.config import load_config
from bytenet.training import train
from bytenet.training.checkpoints import training_variables
from bytenet.training.distribution.cluster import Cluster


class Dump(keras.callbacks.Callback):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def on_train_end(self, logs=None):
        pair = [getattr(self.model, name, None) for name in ("forward", "backward")]
        variables = training_variables(self.model, pair if all(pair) else [self.model])
        np.savez(self.path, **{name: keras.ops.convert_to_numpy(value) for name, value in variables.items()})


cluster = Cluster.from_environment()
count, index = (1, 0) if cluster is None else (len(cluster.addresses), cluster.index)
for name, settings in json.loads(sys.argv[1]).items():
    dump = Dump(f"{name}-{count}-{index}.npz")
    train(load_config("digits", settings), f"{name}-{count}", more_callbacks=[dump], cluster=cluster)
"""

# A small run with a checkpoint every five steps.
SETTINGS = (
    "model.dim=4", "model.num_sets=1", "model.dilations=[1]", "data.num_train=48", "data.num_validation=8",
    "data.batch_size=4", "data.bucketing=none", "training.jit_compile=false", "training.deterministic=true",
    "training.ema_momentum=0.9", "evaluation.continuous_every_seconds=null", "evaluation.continuous_batch_size=8",
    "evaluation.every_epochs=100", "training.checkpoint_every_steps=5", "training.keep_checkpoints=100",
)  # fmt: skip
MOST_SECONDS_TO_END = 60
# Long enough to be killed or stopped in the middle.
ENDLESS = "training.epochs=1000"


class Ended(NamedTuple):
    """How a worker ended: its exit code, negative for a signal, and what it wrote to standard error."""

    code: int
    errors: str


def start_worker(
    addresses: list[str], index: int, command: list[str], folder: Path, before: Sequence[str] = ()
) -> subprocess.Popen:
    """Start a worker with its output in files. One address means a process that trains alone.

    Args:
        addresses: of all workers.
        index: of this one.
        command: arguments of Python.
        folder: for its output, and its current folder.
        before: a program that starts Python, with its arguments.
    """
    config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
    environment = {**os.environ, "TF_CONFIG": json.dumps(config), "TF_NUM_INTRAOP_THREADS": "1"}
    errors = open(folder / f"errors-{index}.txt", "w", encoding="utf-8")  # noqa: SIM115 - the process has it
    return subprocess.Popen(
        [*before, sys.executable, *command], env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors
    )


def wait_for_workers(processes: list[subprocess.Popen], folder: Path, timeout_seconds: float = 600) -> list[Ended]:
    """Wait for all workers of `start_worker`, in their order."""
    try:
        codes = [process.wait(timeout_seconds) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [
        Ended(code, (folder / f"errors-{index}.txt").read_text(encoding="utf-8")) for index, code in enumerate(codes)
    ]


def run_workers(count: int, command: list[str], folder: Path) -> list[Ended]:
    """Run a Python command as several workers."""
    addresses = free_addresses(count)
    processes = [start_worker(addresses, index, command, folder) for index in range(count)]
    return wait_for_workers(processes, folder)


def train_command(run: Path | str, *settings: str) -> list[str]:
    """The arguments of Python that begin or resume a run."""
    return ["-m", "bytenet", "train", "digits", "--resume", "--run", str(run), *(f"--set={one}" for one in settings)]


def wait_for_checkpoint(run: Path, processes: list[subprocess.Popen]) -> None:
    """Wait for the first checkpoint of a run. All processes must live until then."""
    wait_while_all_live(processes, lambda: any((run / "checkpoints").glob("step-*.npz")), "the first checkpoint")


def wait_while_all_live(processes: list[subprocess.Popen], answer: Callable[[], bool], what: str) -> None:
    """Wait until an answer is true. All processes must live until then."""

    def checked() -> bool:
        assert all(process.poll() is None for process in processes), f"a process ended before {what}"
        return answer()

    wait_for(checked, what, seconds=240)
