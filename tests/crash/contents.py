"""What the files of a folder say, apart from the times that they note."""

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np
import yaml

from bytenet.files import PARTIAL
from bytenet.folder_lock import LOCK_NAME

_TIMES = ("seconds",)
_OWN_TO_A_PROCESS = ("commands", "machine")  # of environment.json
# TensorBoard's files: their names have times in them, and a resumed run begins a new one.
_NOT_COMPARED = "logs"


def contents(folder: Path) -> dict[str, str]:
    """A digest of what each file in a folder says, by its name in the folder. Leftovers of killed processes count, too.

    Two runs with the same results have the same contents.
    """
    return {
        name: hashlib.sha256(_meaning(path)).hexdigest()
        for name, path in _files(folder).items()
        if _NOT_COMPARED not in path.parts and path.name != LOCK_NAME
    }


def differing(found: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    """Names of the files that differ, are missing or are too many."""
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))


def unwhole(folder: Path) -> list[str]:
    """What is wrong with files that count as whole, that is, those without a name for unfinished files."""
    wrong = []
    for name, path in _files(folder).items():
        unfinished = path.name == LOCK_NAME or any(part.startswith(PARTIAL) for part in Path(name).parts)
        if unfinished or path.suffix == ".part" or _NOT_COMPARED in path.parts:
            continue
        try:
            _meaning(path)
        except Exception as error:  # what a broken file raises is many things
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    return wrong


def leftovers(folder: Path) -> list[str]:
    """Names of unfinished files."""
    return [name for name, path in _files(folder).items() if PARTIAL in name or path.suffix == ".part"]


def _files(folder: Path) -> dict[str, Path]:
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


def _meaning(path: Path) -> bytes:
    """The content of a file without its times. Raises an error if the file is not whole."""
    content = path.read_bytes()
    if path.suffix == ".npz":
        return _arrays(content)
    if path.suffix == ".keras":
        return _model(content)
    if path.suffix == ".csv":
        if not content.endswith(b"\n"):
            raise ValueError("the last line has no end")
        rows = list(csv.DictReader(io.StringIO(content.decode()), strict=True))
        if any(None in row or None in row.values() for row in rows):
            raise ValueError("a line has other columns than the first one")
        return json.dumps([{key: row[key] for key in row if key not in _TIMES} for row in rows]).encode()
    if path.suffix == ".json":
        values = json.loads(content)
        if isinstance(values, dict):
            values = {key: values[key] for key in values if key not in _OWN_TO_A_PROCESS}
        return json.dumps(values).encode()
    if path.suffix == ".yaml" and not isinstance(yaml.safe_load(content), dict):
        raise ValueError("it is empty")
    return content


def _arrays(content: bytes) -> bytes:
    with np.load(io.BytesIO(content)) as saved:
        arrays = {name: saved[name] for name in saved.files}
    state = json.loads(arrays.pop("training_state").tobytes())
    kept = {key: state[key] for key in state if key not in _TIMES}
    return json.dumps(kept).encode() + b"".join(
        f"{name} {array.dtype} {array.shape}".encode() + array.tobytes() for name, array in sorted(arrays.items())
    )


def _model(content: bytes) -> bytes:
    parts = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if (broken := archive.testzip()) is not None:
            raise ValueError(f"{broken} has another checksum")
        parts.append(archive.read("config.json"))
        weights = archive.read("model.weights.h5")
    with h5py.File(io.BytesIO(weights)) as file:

        def add(name: str, found: object) -> None:
            if isinstance(found, h5py.Dataset):
                parts.append(name.encode() + found[()].tobytes())

        file.visititems(add)
    return b"".join(parts)
