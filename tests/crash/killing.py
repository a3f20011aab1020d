"""Running a command, and killing it at some moment of its writing."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_SECONDS = 900.0
"""A command that takes longer hangs."""

_POLL_SECONDS = 0.002


@dataclass(frozen=True)
class Kill:
    """When a command is killed with SIGKILL.

    Attributes:
        folder: number of the watched folder.
        seconds: after the first change in that folder, or after the start.
        children: whether the processes that the command started are killed at the same time.
        worker: number of the process, if the victim has several workers.
    """

    folder: int
    seconds: float
    children: bool
    worker: int = 0


@dataclass(frozen=True)
class Ending:
    """How a command ended.

    Attributes:
        code: exit code.
        message: the end of its standard error.
        seconds: from the first change in each watched folder, or from the start, to the end; 0 without a change.
        killed: whether it was killed as planned.
    """

    code: int
    message: str
    seconds: list[float]
    killed: bool = False


def run(
    command: Sequence[str], environment: Mapping[str, str], watched: Sequence[Path | None], kill: Kill | None = None
) -> Ending:
    """Run a command to its end, or kill it.

    Args:
        command: with its arguments.
        environment: variables beside those of this process.
        watched: folders that the command writes to. They need not exist. None stands for the start of the command.
        kill: None lets it end by itself.
    """
    before = [None if folder is None else _state(folder) for folder in watched]
    began = [time.monotonic() if folder is None else None for folder in watched]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, env=os.environ | environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
            start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + MOST_SECONDS
        killed = False
        while process.poll() is None:
            now = time.monotonic()
            for number, folder in enumerate(watched):
                if folder is not None and began[number] is None and _state(folder) != before[number]:
                    began[number] = now
            first = began[kill.folder] if kill else None
            killed = kill is not None and first is not None and now - first >= kill.seconds
            if killed or now > deadline:
                _kill(process, kill is None or kill.children)
                break
            time.sleep(_POLL_SECONDS)
        code = process.wait()
        end = time.monotonic()
        errors.seek(0)
        message = errors.read().decode(errors="replace")[-3000:]
    return Ending(
        code, message, [0.0 if first is None else end - first for first in began], killed and code == -signal.SIGKILL
    )


def _state(folder: Path) -> set[tuple[str, int, int, int]]:
    """Names, sizes and times of all that is in a folder."""
    found = set()
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            try:
                status = os.stat(path)
            except FileNotFoundError:  # renamed just now
                continue
            found.add((path, status.st_ino, status.st_size, status.st_mtime_ns))
    return found


def _kill(process: subprocess.Popen, children: bool) -> None:
    if children:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
