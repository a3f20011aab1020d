"""The folder of a captured trace, and the notes in it."""

import json
import os
from pathlib import Path
from typing import Any

from bytenet.config import Config
from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from bytenet.profiling.traces.trace_file import CAPTURE_FILE, find_trace


def new_trace_folder(folder: str | os.PathLike[str]) -> Path:
    """Make the folder, unless it exists and is empty.

    Raises:
        InputError: the path is a file, or a folder that is not empty.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not empty. Give another folder for the trace, or remove this one.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_notes(folder: Path, notes: dict[str, Any]) -> Path:
    """Write how a trace was captured beside it, and return the path of the trace file."""
    write_text_atomic(folder / CAPTURE_FILE, json.dumps(notes, indent=2, default=str) + "\n")
    return find_trace(folder)


def changed_settings(config: Config) -> dict[str, Any]:
    """The settings that differ from the defaults, by their dotted keys; all settings of another family of models."""
    settings = config.settings()
    return {key: value for key, value, _ in config.differences(Config()) if key in settings}
