"""Stand-ins for the processes that train, and for the training in them."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from bytenet.config import load_config
from bytenet.reproduction.jobs.scheduler import train_all

from .stand_in_training import PROGRAM


@dataclass(frozen=True)
class Process:
    """A stand-in for a process. It does its work in `wait`."""

    work: Callable[[], int]

    def wait(self):
        return self.work()

    def terminate(self):
        """Do nothing: the process ends by itself."""


class Trainer:
    """A stand-in for `bytenet train`. It saves the configuration and records its calls.

    Attributes:
        calls: the configuration, run folder and environment of each call.
        most_at_once: the largest number of calls that overlapped.
        failing: the name of a run that fails.
        barrier: calls wait for each other here.
        has_locks: whether each process inherits a lock.
    """

    def __init__(self):
        self.calls = []
        self.most_at_once = 0
        self.failing = None
        self.barrier = threading.Barrier(1)
        self.has_locks = True
        self._running = 0
        self._lock = threading.Lock()

    def __call__(self, command, stdout, stderr, env, process_group, pass_fds):
        assert command[:4] == [sys.executable, "-m", "bytenet", "train"]
        assert command[5::2] == ["--run"] or command[5:] == ["--run", command[6], "--resume"]
        assert stderr == subprocess.STDOUT
        # The process keeps the lock of the training, even if its parent process dies.
        locks = [f"{command[6]}.lock"] if self.has_locks else []
        assert [os.readlink(f"/proc/self/fd/{number}") for number in pass_fds] == locks
        return Process(partial(self._train, command[4], Path(command[6]), stdout, env))

    def _train(self, settings, folder, output, env):
        config = load_config(settings)
        with self._lock:
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            self.calls.append((config, folder, env))
        self.barrier.wait(timeout=60)
        time.sleep(0.02)
        output.write("epoch 1\n")
        with self._lock:
            self._running -= 1
        if folder.parent.name == self.failing:
            output.write("Error: the disk is full.\n\n")
            return 1
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(config.to_yaml(), encoding="utf-8")
        return 0

    @property
    def folders(self):
        return [folder for _, folder, _ in self.calls]


@pytest.fixture
def trainer(monkeypatch):
    trainer = Trainer()
    monkeypatch.setattr("bytenet.reproduction.jobs.worker_processes.subprocess.Popen", trainer)
    return trainer


@pytest.fixture
def train(trainer, tmp_path):
    """A function that trains runs in `tmp_path`. It returns the failures or, if there are none, the printed lines."""

    def train_runs(*runs, seeds=(1,), jobs=1, folder=tmp_path):
        lines = []
        failed = train_all(runs, seeds, folder, jobs, lines.append)
        return failed or lines

    return train_runs


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Worker processes do the stand-in training, and their cache is empty."""
    folder = tmp_path / "stand-in"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("BYTENET_COMPILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TF_XLA_FLAGS", raising=False)
