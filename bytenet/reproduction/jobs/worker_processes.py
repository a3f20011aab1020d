"""The processes that experiments train in: one for each training, or one that stays and trains one after the other."""

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
from typing import Any, TextIO

from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from bytenet.reproduction.jobs.training_run import Training


class Children:
    """The processes under way, which can be ended all at once."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen] = set()
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        with self._lock:
            return self._ended

    def start(self, command: list[str], **options: Any) -> subprocess.Popen:
        """Start a process.

        Args:
            command: and its arguments.
            options: of `subprocess.Popen`.

        Raises:
            InputError: `end` was called.
        """
        with self._lock:  # or one could be started while the others are told to end
            if self._ended:
                raise InputError("Stopped.")
            # A group of its own: Ctrl-C in a terminal would signal it beside `end`, and a second signal ends at once.
            child = subprocess.Popen(command, process_group=0, **options)
            self._running.add(child)
            return child

    def wait(self, child: subprocess.Popen) -> int:
        """Wait for a process to end; its exit code, as `subprocess` gives it."""
        code = child.wait()
        with self._lock:
            self._running.discard(child)
        return code

    def end(self) -> None:
        """Ask all to end, which trainings do after saving a checkpoint; start no more."""
        with self._lock:
            self._ended = True
            for child in self._running:
                child.terminate()


class TrainingProcess:
    """Trains one run after the other for one thread.

    Args:
        environment: of its processes.
        children: where to start them.
        most_bytes: of memory; a process that holds more after a training is replaced by a new one, and so is one that
            would hold more with further models, if those were as large as what it has.

    Attributes:
        compiled: for which `TrainingRun.together` the process that stays has models.
    """

    def __init__(self, environment: Mapping[str, str], children: Children, most_bytes: int):
        self._environment = dict(environment)
        self._children = children
        self._most_bytes = most_bytes
        self._worker: subprocess.Popen | None = None
        self._bytes = 0  # that it held after its last training
        self.compiled: set[str] = set()

    def train(self, training: Training, lock: TextIO) -> None:
        """Train to the end, or go on with what was stopped.

        Args:
            training: which.
            lock: the file that keeps others from it. A process for this training alone holds it, too, as it outlives
                the one that asked for it; the process that stays ends with that one.

        Raises:
            InputError: it failed; the message says why, how to do it by hand and where its output is.
        """
        write_text_atomic(training.saved_settings, training.config.to_yaml())
        why = self._train_with_worker(training) if training.run.together else self._train_alone(training, lock)
        if why:
            command = shlex.join(self._command(training))
            raise InputError(f"`{command}` failed: {why} (all of it is in {training.log})")

    def close(self) -> None:
        """End the process that stays, if there is one; nothing is under way."""
        if self._worker is not None:
            self._forget_worker()

    @staticmethod
    def _command(training: Training) -> list[str]:
        settings, folder = str(training.saved_settings), str(training.folder)
        return [sys.executable, "-m", "bytenet", "train", settings, "--run", folder, "--resume"]

    def _train_alone(self, training: Training, lock: TextIO) -> str:
        """Why it failed; "" where it did not."""
        with open(training.log, "a", encoding="utf-8") as output:
            child = self._children.start(
                self._command(training), stdout=output, stderr=subprocess.STDOUT, env=self._environment,
                pass_fds=(lock.fileno(),),
            )  # fmt: skip
            code = self._children.wait(child)
        return _why_ended(code, training.log) if code else ""

    def _train_with_worker(self, training: Training) -> str:
        """Why it failed; "" where it did not."""
        if self._worker is not None and self._worker.poll() is not None:
            self._forget_worker()  # it died while it had nothing to do
        if self._worker is not None and not self._has_room_for(training.run.together):
            self._forget_worker()
        if self._worker is None:
            self._start_worker(training.log)
        self.compiled.add(training.run.together)
        paths = {"settings": training.saved_settings, "run": training.folder, "log": training.log}
        try:
            self._worker.stdin.write(json.dumps({name: os.fspath(path) for name, path in paths.items()}) + "\n")
            self._worker.stdin.flush()
            answer = self._worker.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer.endswith("\n"):
            return _why_ended(self._forget_worker(), training.log)
        told = json.loads(answer)
        self._bytes = told["bytes"]
        if self._bytes > self._most_bytes:
            self._forget_worker()
        return told["error"]

    def _has_room_for(self, together: str) -> bool:
        """Whether the process that stays may take on a training, if other models are as large as those that it has."""
        return together in self.compiled or self._bytes * (1 + 1 / len(self.compiled)) <= self._most_bytes

    def _start_worker(self, log: Path) -> None:
        # What keeps it from starting is read in the log of its first training.
        with open(log, "a", encoding="utf-8") as output:
            self._worker = self._children.start(
                [sys.executable, "-m", "bytenet.reproduction.jobs.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, env=self._environment,
                text=True, encoding="utf-8",
            )  # fmt: skip

    def _forget_worker(self) -> int:
        """Let it end, so that the next training gets a new one; its exit code."""
        with suppress(BrokenPipeError):  # what it was told last may not have reached it
            self._worker.stdin.close()
        self._worker.stdout.close()
        code = self._children.wait(self._worker)
        self._worker = None
        self.compiled.clear()
        return code


def _why_ended(code: int, log: Path) -> str:
    """Words for the end of a process that did not do its work."""
    if code < 0:
        hint = ", perhaps for want of memory: fewer --jobs need less" if code == -signal.SIGKILL else ""
        return f"the process was ended by {signal.Signals(-code).name}{hint}"
    last_line = log.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
    return last_line or f"the process ended with exit code {code}"
