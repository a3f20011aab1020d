"""The folder of a captured trace, and the notes in it."""

import json
import os
from pathlib import Path
from typing import Any

from bytenet.config import Config
from bytenet.files import write_text_atomic
from bytenet.output_paths import check_new_or_empty
from bytenet.profiling.traces.trace_file import CAPTURE_FILE, find_trace


def new_trace_folder(folder: str | os.PathLike[str]) -> Path:
    """Make the folder, unless it exists and is empty.

    Raises:
        InputError: the path is a file, or a folder that is not empty.
    """
    check_new_or_empty(folder, "the trace")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_notes(folder: Path, notes: dict[str, Any]) -> Path:
    """Write how a trace was captured beside it, with its path in the folder, and return the path of the trace file."""
    trace = find_trace(folder)
    notes = {"trace": trace.relative_to(folder).as_posix(), **notes}
    write_text_atomic(folder / CAPTURE_FILE, json.dumps(notes, indent=2, default=str) + "\n")
    return trace


def changed_settings(config: Config) -> dict[str, Any]:
    """The settings that differ from the defaults, by their dotted keys; all settings of another family of models."""
    settings = config.settings()
    return {key: value for key, value, _ in config.differences(Config()) if key in settings}
