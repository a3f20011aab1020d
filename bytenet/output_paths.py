"""Checks of the paths of results, before the work for them."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from bytenet.errors import InputError, MissingFileError


def check_new_folder(path: str | os.PathLike[str]) -> None:
    """Raise an InputError if `atomic_folder` cannot make a folder, before the work for its content."""
    path = Path(path)
    if path.exists():
        raise InputError(f"{path} exists already. Give the name of a new folder.")
    check_parent(path)


def check_new_or_empty(folder: str | os.PathLike[str], content: str) -> None:
    """Check that a folder does not exist yet, or is empty.

    Args:
        folder: its path.
        content: what it is for.

    Raises:
        InputError: the path is a file, or a folder that is not empty.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not empty. Give another folder for {content}, or remove this one.")


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise an InputError if `atomic_path` cannot make a file, before the work for its content."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected the path of a file.")
    check_parent(path)


def check_output_folder(path: str | os.PathLike[str], option: str) -> None:
    """Check that a folder can be made, if it does not exist, and that files can be written to it.

    Nothing is left behind. Call it before long work for the content.

    Args:
        path: of the folder.
        option: of the command that names it, for the message.

    Raises:
        InputError: it cannot be written, or it or a folder above it is a file.
    """
    path = Path(path)
    made: list[Path] = []
    try:
        for folder in reversed([path, *path.parents]):
            if not folder.is_dir():
                if folder.exists():
                    raise InputError(f"{option}: {folder} is a file; expected a folder. Give another path.")
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
    check_output_folder((target_of_link(path) if path.is_symlink() else path).absolute().parent, option)


def target_of_link(link: Path) -> Path:
    """The path that a symbolic link leads to. Raises an InputError if the link leads nowhere."""
    try:
        return link.resolve()
    except (RuntimeError, OSError) as error:  # before Python 3.13, a loop is a RuntimeError
        raise InputError(
            f"{link} cannot be written: it is a link that leads nowhere. Remove the link, or give another path."
        ) from error


def check_parent(path: Path) -> None:
    """Raise a MissingFileError if the folder of a new file or folder does not exist."""
    if not path.absolute().parent.is_dir():
        raise MissingFileError(f"{path} cannot be written: there is no folder {path.parent}. Make it.")
