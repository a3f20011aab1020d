"""Which process trains a run: locks in the folder of the runs."""

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from bytenet.errors import InputError
from bytenet.reproduction.jobs.training_run import Training
from bytenet.reproduction.jobs.worker_processes import Children

_SECONDS_BETWEEN_TRIES = 0.2


@contextmanager
def held(training: Training, children: Children, say: Callable[[str], None]) -> Iterator[TextIO]:
    """Keep other processes from a training; wait for one that has it.

    Yields:
        The file that is locked; a process that inherits it keeps the training, should this one die.

    Raises:
        InputError: `children` was told to end while it waited.
    """
    training.folder.parent.mkdir(parents=True, exist_ok=True)
    with open(training.folder.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        told = False
        while not _try_to_lock(lock):
            if children.ended:
                raise InputError("Stopped.")
            if not told:
                say(f"{training.run.name}, seed {training.seed}: waiting for another process that trains it")
                told = True
            time.sleep(_SECONDS_BETWEEN_TRIES)
        yield lock


def _try_to_lock(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
