"""Writing files and folders whole or not at all."""

import errno
import os
import platform
import re
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from bytenet.errors import InputError
from bytenet.output_paths import check_file, check_parent, target_of_link

PARTIAL = ".partial-"
"""How the names of unfinished files and folders begin. A killed process leaves them."""

_FULL = (errno.ENOSPC, errno.EDQUOT)


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


@contextmanager
def _renamed_at_the_end(path: Path) -> Iterator[Path]:
    if path.is_symlink():
        path = target_of_link(path)
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
            check_parent(path)
        if isinstance(error, OSError) and error.filename == str(partial):
            raise InputError(
                f"{path} cannot be written: {error.strerror}. Check the permissions of its folder, or give another "
                "path."
            ) from error
        raise


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
