"""A server as a process of its own, which can be watched and killed."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Self

from bytenet.errors import InputError, last_lines
from bytenet.profiling.benchmarks.serving.clients import translate

_PATIENCE_SECONDS = 600
_BETWEEN_TRIES_SECONDS = 0.02


class ServerProcess:
    """`bytenet serve` for one model, started when this is entered and killed when it is left.

    Args:
        model: the model.
        options: more options of `bytenet serve`.

    Attributes:
        port: where it listens.
    """

    def __init__(self, model: Path, options: Sequence[str] = ()):
        self._arguments = [str(model), *options]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]

    def __enter__(self) -> Self:
        self._messages = tempfile.TemporaryFile()
        self._began = time.monotonic()
        command = [sys.executable, "-m", "bytenet", "serve", *self._arguments, "--port", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self._messages)
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._messages.close()

    def kill(self) -> None:
        """End the process at once, as `kill -9` does."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def seconds_to_answer(self, text: str, languages: tuple[str, str]) -> float:
        """Seconds from the start of the process to its first answer.

        Raises:
            InputError: the process ended, or did not answer for ten minutes. The message has its last lines.
        """
        while time.monotonic() - self._began < _PATIENCE_SECONDS and self._process.poll() is None:
            connection = HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE_SECONDS)
            try:
                status, _ = translate(connection, text, languages)
                if status == 200:
                    return time.monotonic() - self._began
            except (OSError, HTTPException):
                pass  # it does not listen yet
            finally:
                connection.close()
            time.sleep(_BETWEEN_TRIES_SECONDS)
        raise self._failure("did not answer")

    def check_running(self) -> None:
        """Check that the process has not ended.

        Raises:
            InputError: it has ended. The message has its last lines.
        """
        exit_code = self._process.poll()
        if exit_code is not None:
            raise self._failure(f"ended during the measurement, with exit code {exit_code}")

    def wait_until_started(self) -> None:
        """Wait until no model is starting.

        Raises:
            InputError: that takes longer than ten minutes, a model could not be loaded, or the process ended.
        """
        began = time.monotonic()
        while b"bytenet_starting_models 0.0" not in self._metrics():
            if time.monotonic() - began > _PATIENCE_SECONDS:
                raise InputError(f"The server {' '.join(self._arguments)} was still starting after ten minutes.")
            time.sleep(1)
        messages = self._read_messages()
        if "TensorFlow could not load" in messages:
            raise InputError(f"TensorFlow could not load the model. The server's last lines:\n{last_lines(messages)}")

    def _failure(self, what: str) -> InputError:
        name = " ".join(self._arguments)
        return InputError(f"The server {name} {what}. Its last lines:\n{last_lines(self._read_messages())}")

    def _read_messages(self) -> str:
        self._messages.seek(0)
        return self._messages.read().decode(errors="replace")

    def _metrics(self) -> bytes:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE_SECONDS)) as connection:
            try:
                connection.request("GET", "/metrics")
                return connection.getresponse().read()
            except (OSError, HTTPException):
                self.check_running()
                raise

    def resident_bytes(self) -> int:
        """Memory that the process occupies."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
