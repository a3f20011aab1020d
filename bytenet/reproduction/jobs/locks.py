"""Locks that keep two processes from training the same run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from bytenet.errors import InputError
from bytenet.folder_lock import held_lock
from bytenet.reproduction.jobs.training import Training
from bytenet.reproduction.jobs.worker_processes import ChildProcesses

_POLL_SECONDS = 0.2


@contextmanager
def training_lock(training: Training, children: ChildProcesses, say: Callable[[str], None]) -> Iterator[int | None]:
    """Hold the lock of a training. Wait while another process holds it.

    The operating system releases the lock when every process that has its file open has ended. A file system without
    locks keeps nobody out.

    Args:
        training: its lock is a file beside its run folder.
        children: waiting stops when these are told to end.
        say: prints a line when the lock has to be waited for.

    Yields:
        The descriptor of the lock file. A process that inherits it keeps the lock if this process is killed. None on a
        file system without locks.

    Raises:
        InputError: `children` were told to end during the wait.
    """

    def wait(lock: FileLock) -> None:
        say(f"{training.run.name}, seed {training.seed}: waiting for another process that trains it")
        try:
            lock.acquire(poll_interval=_POLL_SECONDS, cancel_check=lambda: children.ended)
        except Timeout:
            raise InputError("Stopped.") from None

    with held_lock(training.folder.with_suffix(".lock"), wait) as descriptor:
        yield descriptor
