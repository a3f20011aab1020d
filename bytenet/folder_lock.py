"""Locks of folders and files: one process at a time works there."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bytenet.errors import InputError

if TYPE_CHECKING:
    from filelock import FileLock

LOCK_NAME = ".lock"
"""Name of the lock file of a folder. The file stays there; it is the process that holds the lock, not the file."""

_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # of file systems without locks


@contextmanager
def alone_in(folder: str | os.PathLike[str], work: str, say: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock of a folder.

    The operating system releases it when this process ends, even if it is killed. A file system without locks keeps
    nobody out.

    Args:
        folder: must exist.
        work: what is done there, for the message, such as "trains a run".
        say: prints a line when the lock has to be waited for. None does not wait.

    Raises:
        InputError: another process holds the lock, and `say` is None.
    """

    def wait(lock: "FileLock") -> None:
        message = f"Another process {work} in {folder}."
        if say is None:
            raise InputError(f"{message} Wait until it has ended, or give another folder.") from None
        say(f"{message} Waiting until it has ended ...")
        lock.acquire()

    with held_lock(Path(folder, LOCK_NAME), wait):
        yield


@contextmanager
def held_lock(path: Path, wait: Callable[["FileLock"], None]) -> Iterator[int | None]:
    """Hold the lock of a file. The system releases it when every process that has the file open has ended.

    Args:
        path: the file, which is made. A file system without locks keeps nobody out.
        wait: called if another process holds the lock. It acquires the lock or raises an error.

    Yields:
        The descriptor of the file. A process that inherits it keeps the lock. None on a file system without locks.
    """
    from filelock import FileLock, Timeout

    descriptors: list[int] = []
    lock = FileLock(path, on_acquired=descriptors.append, fallback_to_soft=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        wait(lock)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    try:
        yield descriptors[0] if descriptors else None
    finally:
        lock.release()
