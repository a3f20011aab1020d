"""Writing files and folders whole or not at all, by one process at a time."""

import errno
import os
import platform
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bytenet.errors import InputError, MissingFileError

if TYPE_CHECKING:
    from filelock import FileLock

PARTIAL = ".partial-"
"""How the names of unfinished files and folders begin. A killed process leaves them."""

LOCK_NAME = ".lock"
"""Name of the lock file of a folder. The file stays there; it is the process that holds the lock, not the file."""

_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # of file systems without locks


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path` to write to, and rename it to `path` when the file is complete.

    If `path` is a symbolic link, the file that it points to is written, and the link stays.

    The temporary file has the suffixes of `path`, because some writers look at them (Keras wants `.keras`). It is
    synced to disk before the rename. On any error it is removed, and `path` stays as it was. If the process is killed,
    the temporary file stays. The next one that writes `path` on this machine removes it.

    Args:
        path: of the finished file. Its folder must exist.

    Yields:
        The path to write to.

    Raises:
        MissingFileError: its folder does not exist.
        InputError: the disk is full, its quota is used up, or the file may not be written.
    """
    with _renamed_at_the_end(Path(path)) as partial:
        yield partial


@contextmanager
def atomic_paths(paths: Iterable[str | os.PathLike[str]]) -> Iterator[list[Path]]:
    """The same as `atomic_path` for several files that belong together. Whoever uses it writes all of them.

    Before the first rename, all temporary files are synced to disk, and no target may be a folder. So none of the files
    changes if one cannot be written. The renames follow each other, the first path last. If one of them fails
    nevertheless, or the process is killed between them, those before it are done.

    Args:
        paths: of the finished files.

    Yields:
        The paths to write to, in the order of `paths`.

    Raises:
        MissingFileError, InputError: as for `atomic_path`, or a target is a folder.
    """
    targets = [Path(path) for path in paths]
    with ExitStack() as renamed_in_reverse_order:
        partials = [renamed_in_reverse_order.enter_context(_renamed_at_the_end(target)) for target in targets]
        yield partials
        for target, partial in zip(targets, partials, strict=True):
            check_file(target)
            _sync(partial)


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same as `atomic_path` for a folder that does not exist. Whoever writes to the temporary path makes it."""
    with _renamed_at_the_end(Path(path)) as partial:
        yield partial


def check_new_folder(path: str | os.PathLike[str]) -> None:
    """Raise an InputError if `atomic_folder` cannot make a folder, before the work for its content."""
    path = Path(path)
    if path.exists():
        raise InputError(f"{path} exists already. Give the name of a new folder.")
    _check_parent(path)


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise an InputError if `atomic_path` cannot make a file, before the work for its content."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected the path of a file.")
    _check_parent(path)


def check_output_folder(path: str | os.PathLike[str], option: str) -> None:
    """Check that a folder can be made, if it does not exist, and that files can be written to it.

    Nothing is left behind. Call it before long work for the content.

    Args:
        path: of the folder.
        option: of the command that names it, for the message.

    Raises:
        InputError: it cannot be used.
    """
    path = Path(path)
    made: list[Path] = []
    try:
        for folder in reversed([path, *path.parents]):
            if not folder.is_dir():
                folder.mkdir()
                made.append(folder)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise InputError(
            f"{option}: the folder {path} cannot be written: {error.strerror}. Check its permissions, or give {option} "
            "another folder."
        ) from error
    finally:
        for folder in reversed(made):
            with suppress(OSError):  # another process writes to it now
                folder.rmdir()


def check_output_file(path: str | os.PathLike[str], option: str) -> None:
    """Check that `atomic_path` can make a file. The folder of the file must exist; the rest is as for a folder."""
    path = Path(path)
    check_file(path)
    check_output_folder((_target_of(path) if path.is_symlink() else path).absolute().parent, option)


@contextmanager
def _renamed_at_the_end(path: Path) -> Iterator[Path]:
    if path.is_symlink():
        path = _target_of(path)
    _remove_abandoned(path)
    partial = path.with_name(f"{PARTIAL}{_machine()}-{os.getpid()}-{threading.get_ident()}-{path.name}")
    try:
        yield partial
        for written in (partial, *partial.rglob("*")):
            if written.is_file():
                _sync(written)
        os.replace(partial, path)
    except BaseException as error:
        remove(partial)
        explain_full_disk(error, path)
        if isinstance(error, FileNotFoundError):
            _check_parent(path)
        if isinstance(error, OSError) and error.filename == str(partial):
            raise InputError(
                f"{path} cannot be written: {error.strerror}. Check the permissions of its folder, or give another "
                "path."
            ) from error
        raise


def _target_of(link: Path) -> Path:
    try:
        return link.resolve()
    except (RuntimeError, OSError) as error:  # before Python 3.13, a loop is a RuntimeError
        raise InputError(
            f"{link} cannot be written: it is a link that leads nowhere. Remove the link, or give another path."
        ) from error


def _check_parent(path: Path) -> None:
    """Raise a MissingFileError if there is no folder for a path to write."""
    if not path.absolute().parent.is_dir():
        raise MissingFileError(f"{path} cannot be written: there is no folder {path.parent}. Make it.")


def append_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 to the end of `path`, an existing file: whole, or not at all if there is an error.

    The file is not synced to disk. A killed process loses nothing; if the power fails, the end of the file may be lost.

    Raises:
        InputError: the disk is full or its quota is used up.
    """
    with open(path, "ab", buffering=0) as file:
        size, data = file.tell(), text.encode()
        try:
            if file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        except OSError as error:
            file.truncate(size)
            explain_full_disk(error, Path(path))
            raise


def write_text_atomic(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 to `path`, whole or not at all. Line ends stay as they are."""
    with atomic_path(path) as partial, open(partial, "w", encoding="utf-8", newline="") as file:
        file.write(text)


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


def is_full_disk(error: BaseException) -> bool:
    """Whether a full disk or a used up quota caused an error. Libraries such as HDF5 and TensorFlow give it as text."""
    return (isinstance(error, OSError) and error.errno in _FULL) or any(
        os.strerror(number) in str(error) for number in _FULL
    )


def explain_full_disk(error: BaseException, path: Path) -> None:
    """Raise an InputError if a full disk caused an error while `path` was written."""
    if is_full_disk(error) and not isinstance(error, InputError):
        before = "The earlier file there is intact." if path.exists() else "Nothing was left behind."
        raise InputError(
            f"The disk is full: {path} could not be saved. {before} Free some space on that disk, "
            "or choose a folder on another one, and run the same command again."
        ) from error


def _remove_abandoned(path: Path) -> None:
    """Remove the temporary files and folders of processes of this machine that were killed while they wrote `path`."""
    name = re.compile(rf"{re.escape(PARTIAL + _machine())}-(\d+)-(\d+)-{re.escape(path.name)}")
    with suppress(OSError):  # there is no folder, or another process removes them, too
        for other in path.parent.iterdir():
            if (match := name.fullmatch(other.name)) and not _is_running(*map(int, match.groups())):
                remove(other)


def _machine() -> str:
    return platform.node()[:40]


def _is_running(process: int, thread: int) -> bool:
    if process == os.getpid():  # in a container, a process often has the number of an earlier one
        return thread in {running.ident for running in threading.enumerate()}
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user
        pass
    return True


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with open(path, "rb") as written:
        os.fsync(written.fileno())
