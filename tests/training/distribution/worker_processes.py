"""Workers in their own processes, on this machine."""

import json
import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

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


class Ended(NamedTuple):
    """How a worker ended: its exit code, negative for a signal, and what it wrote to standard error."""

    code: int
    errors: str


def free_addresses(count: int) -> list[str]:
    """Addresses on this machine that nobody uses."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("localhost", 0))
        return [f"localhost:{one.getsockname()[1]}" for one in found]


def start_worker(addresses: list[str], index: int, command: list[str], folder: Path) -> subprocess.Popen:
    """Start a worker with its output in files. One address means a process that trains alone."""
    config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
    environment = {**os.environ, "TF_CONFIG": json.dumps(config), "TF_NUM_INTRAOP_THREADS": "1"}
    errors = open(folder / f"errors-{index}.txt", "w", encoding="utf-8")  # noqa: SIM115 - the process has it
    return subprocess.Popen(
        [sys.executable, *command], env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors
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
