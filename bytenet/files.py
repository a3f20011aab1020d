"""Writing files whole or not at all."""

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bytenet.errors import InputError, MissingFileError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path` to write to, and rename it to `path` when the file is complete.

    The temporary file has the suffixes of `path`, because some writers look at them (Keras wants `.keras`). It is
    synced to disk before the rename. On any error it is removed, and `path` stays as it was.

    Args:
        path: of the finished file. Its folder must exist.

    Yields:
        The path to write to.

    Raises:
        MissingFileError: its folder does not exist.
        InputError: the disk is full, its quota is used up, or the file may not be written.
    """
    path = Path(path)
    partial = path.with_name(f".partial-{os.getpid()}-{threading.get_ident()}-{path.name}")
    try:
        yield partial
        with open(partial, "rb") as written:
            os.fsync(written.fileno())
        os.replace(partial, path)
    except BaseException as error:
        with suppress(FileNotFoundError):
            partial.unlink()
        _explain_full_disk(error, path)
        if isinstance(error, FileNotFoundError) and not path.parent.is_dir():
            raise MissingFileError(f"{path} cannot be written: there is no folder {path.parent}. Make it.") from error
        if isinstance(error, OSError) and error.filename == str(partial):
            raise InputError(f"{path} cannot be written: {error.strerror}.") from error
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
            _explain_full_disk(error, Path(path))
            raise


def _explain_full_disk(error: BaseException, path: Path) -> None:
    """Raise an InputError if a full disk caused the error."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        before = "The earlier file there is intact." if path.exists() else "Nothing was left behind."
        raise InputError(
            f"The disk is full: {path} could not be saved. {before} Free some space on that disk, "
            "or choose a folder on another one, and run the same command again."
        ) from error


def write_text_atomic(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 to `path`, whole or not at all. Line ends stay as they are."""
    with atomic_path(path) as partial, open(partial, "w", encoding="utf-8", newline="") as file:
        file.write(text)
