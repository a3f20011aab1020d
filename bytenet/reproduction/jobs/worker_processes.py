"""The processes that train: one for a single run, or a worker that trains one run after the other."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from bytenet.reproduction.jobs.training import Training


class ChildProcesses:
    """The running child processes. All of them can be ended at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[Any]] = set()
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        with self._lock:
            return self._ended

    def start(self, command: list[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a process.

        Args:
            command: program and arguments.
            options: options of `subprocess.Popen`.

        Raises:
            InputError: `end` was called.
        """
        with self._lock:  # otherwise a process could start while `end` runs, and miss its signal
            if self._ended:
                raise InputError("Stopped.")
            # A process group of its own. Otherwise Ctrl-C in a terminal would reach the process in addition to the
            # signal of `end`, and a second signal ends a training without a checkpoint.
            child: subprocess.Popen[Any] = subprocess.Popen(command, process_group=0, **options)
            self._running.add(child)
            return child

    def wait(self, child: subprocess.Popen[Any]) -> int:
        """Wait until a process ends.

        Returns:
            Its exit code, negative for a signal (as in `subprocess`).
        """
        code = child.wait()
        with self._lock:
            self._running.discard(child)
        return code

    def end(self) -> None:
        """Start no more processes, and ask all running ones to end. Trainings save a checkpoint first."""
        with self._lock:
            self._ended = True
            for child in self._running:
                child.terminate()


class _Worker:
    """A running `bytenet.reproduction.jobs.worker`.

    Args:
        children: starts the process.
        environment: its environment variables.
        log: the file for errors before its first training.
    """

    def __init__(self, children: ChildProcesses, environment: Mapping[str, str], log: Path):
        self._children = children
        with open(log, "a", encoding="utf-8") as output:
            self._process = children.start(
                [sys.executable, "-m", "bytenet.reproduction.jobs.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, env=environment,
                text=True, encoding="utf-8",
            )  # fmt: skip
        assert self._process.stdin is not None  # both are pipes
        assert self._process.stdout is not None
        self._jobs: IO[str] = self._process.stdin
        self._answers: IO[str] = self._process.stdout
        self.resident_bytes = 0
        self.compiled: set[str] = set()

    @property
    def has_died(self) -> bool:
        """Whether the process has ended by itself."""
        return self._process.poll() is not None

    def train(self, training: Training) -> str | None:
        """Train a run and wait for its end.

        Returns:
            The reason why it failed; "" if it did not fail; None if the process died.
        """
        self.compiled.add(training.run.together)
        paths = {"settings": training.saved_settings, "run": training.folder, "log": training.log}
        try:
            self._jobs.write(json.dumps({name: os.fspath(path) for name, path in paths.items()}) + "\n")
            self._jobs.flush()
            line = self._answers.readline()
        except BrokenPipeError:
            return None
        if not line.endswith("\n"):
            return None
        answer = json.loads(line)
        self.resident_bytes = answer["bytes"]
        return answer["error"]

    def has_room_for(self, together: str, max_bytes: int) -> bool:
        """Whether a training fits into the memory, if each new model is as large as the present ones."""
        return together in self.compiled or self.resident_bytes * (1 + 1 / len(self.compiled)) <= max_bytes

    def close(self) -> int:
        """Let the process end.

        Returns:
            Its exit code.
        """
        with suppress(BrokenPipeError):  # it may have died before it read the last job
            self._jobs.close()
        self._answers.close()
        return self._children.wait(self._process)


class TrainingProcess:
    """Trains one run after the other, for one thread.

    Args:
        environment: environment variables of its processes.
        children: starts the processes.
        max_bytes: memory limit of a worker. A worker is replaced if it holds more after a training, or if it would hold
            more with another model of the average size of its present ones.
    """

    def __init__(self, environment: Mapping[str, str], children: ChildProcesses, max_bytes: int):
        self._environment = dict(environment)
        self._children = children
        self._max_bytes = max_bytes
        self._worker: _Worker | None = None

    @property
    def compiled(self) -> set[str]:
        """The values of `TrainingRun.together` that the worker has compiled models for."""
        return self._worker.compiled if self._worker else set()

    def train(self, training: Training, lock: int | None) -> None:
        """Train a run to its end, or resume it.

        Args:
            training: the run and its seed.
            lock: descriptor of the lock file, if there is one. A process for a single run inherits it, because it
                outlives a scheduler that is killed. A worker does not: it ends with the scheduler.

        Raises:
            InputError: the training failed. The message names the reason, the command to repeat it and the log.
        """
        write_text_atomic(training.saved_settings, training.config.to_yaml())
        error = self._train_with_worker(training) if training.run.together else self._train_alone(training, lock)
        if error:
            command = shlex.join(self._command(training))
            raise InputError(f"`{command}` failed: {error} (the whole output is in {training.log})")

    def close(self) -> None:
        """End the worker, if there is one. It must not be training."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    @staticmethod
    def _command(training: Training) -> list[str]:
        settings, folder = str(training.saved_settings), str(training.folder)
        return [sys.executable, "-m", "bytenet", "train", settings, "--run", folder, "--resume"]

    def _train_alone(self, training: Training, lock: int | None) -> str:
        """Train in a process for this run alone. Returns why it failed; "" if it did not fail."""
        with open(training.log, "a", encoding="utf-8") as output:
            child = self._children.start(
                self._command(training), stdout=output, stderr=subprocess.STDOUT, env=self._environment,
                pass_fds=() if lock is None else (lock,),
            )  # fmt: skip
            code = self._children.wait(child)
        return describe_exit(code, training.log) if code else ""

    def _train_with_worker(self, training: Training) -> str:
        """Train in the worker. Returns why it failed; "" if it did not fail."""
        worker = self._worker
        if worker is not None and (worker.has_died or not worker.has_room_for(training.run.together, self._max_bytes)):
            self.close()
            worker = None
        if worker is None:
            worker = self._worker = _Worker(self._children, self._environment, training.log)
        error = worker.train(training)
        if error is None:
            self._worker = None
            return describe_exit(worker.close(), training.log)
        if worker.resident_bytes > self._max_bytes:
            self.close()
        return error


def describe_exit(code: int, log: Path) -> str:
    """Why a process failed: its signal, the last line of its log, or its exit code."""
    if code < 0:
        hint = "; perhaps there was too little memory, and fewer --jobs need less" if code == -signal.SIGKILL else ""
        return f"the process was ended by {_signal_name(-code)}{hint}"
    last_line = log.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
    return last_line or f"the process ended with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"
