"""Checks of the folders that keep what was measured."""

import os
from pathlib import Path

from bytenet.errors import InputError


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
