"""Writing and reading of a saved model, `model.keras`.

Nothing that is read from the file names a class, a function or a path. Keras would make the object that the file
describes. Here, the file only gives values of a model's configuration, which are checked like settings, and arrays. The
sizes of the arrays are read from the headers and compared with the model before memory for either is allocated.
"""

import io
import os
import time
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import h5py
import keras
import pydantic
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.config import ModelConfig
from bytenet.config.families import DEFAULT_FAMILY, family_configs
from bytenet.config.old_names import present_settings
from bytenet.errors import InputError, shown
from bytenet.files import atomic_path
from bytenet.limits import MOST_CONFIG_BYTES, MOST_ZIP_DIRECTORY_BYTES, parse_json
from bytenet.lite.archive import open_zip
from bytenet.models import TranslationModel, build_model
from bytenet.models.model_size import check_size

_CONFIG, _WEIGHTS = "config.json", "model.weights.h5"
_LARGEST_FLOAT_BYTES = 8
_POLICIES = ("float16", "bfloat16", "float32", "float64", "mixed_bfloat16", "mixed_float16")


class _Saved(TypedDict):
    config: dict[str, Any]


def save_model(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Save a model for use as `.keras`, whole or not at all. For the rest see `write_model`.

    Raises:
        InputError: the disk is full, or the clock is wrong.
    """
    with atomic_path(path) as partial:
        write_model(model, partial)


def write_model(model: keras.Model, path: Path) -> None:
    """Write a model for use as `.keras`.

    The file has no optimiser, which needs TensorFlow, so it can be loaded on every backend of Keras.

    Raises:
        InputError: the clock is wrong.
    """
    check_clock()
    copy = type(model).from_config(model.get_config())
    copy.build({"source_ids": (None, None), "target_ids": (None, None)})
    copy.set_weights(model.get_weights())
    copy.save(path)


def check_clock() -> None:
    """Raise an InputError if the clock is before 1980. Keras saves models as zip archives, which have no such dates."""
    if (year := time.localtime(time.time()).tm_year) < 1980:
        raise InputError(
            f"The clock of this machine says that it is the year {year}; expected 1980 or later, because a model "
            "cannot be saved with an earlier date. Set the clock, and run the same command again."
        )


def load_keras_model(path: Path) -> TranslationModel:
    """Load a model that `save_model` saved.

    Raises:
        InputError: the file is damaged, describes no model of this package, or its arrays do not fit the model.
    """
    try:
        with open_zip(path, MOST_ZIP_DIRECTORY_BYTES) as archive:
            content = _member(archive, _CONFIG, MOST_CONFIG_BYTES)
            values = parse_json(content, _Saved, _CONFIG, "the configuration of a model")["config"]
            config, vocab_size = _configuration(values)
            dtype = _policy(values.get("dtype"))
            check_size(config, vocab_size, num_floats=_num_floats(_member(archive, _WEIGHTS, path.stat().st_size)))
        model = build_model(config, vocab_size, dtype)
        model.load_weights(path)
    except Exception as error:  # zipfile, h5py and Keras raise errors of many types for damaged parts
        problem = str(error).strip()[:300].rstrip(".") or type(error).__name__
        raise InputError(
            f"{path} cannot be loaded: {problem}. It was damaged, or saved by another version of this package. "
            "Copy it again, or train again."
        ) from error
    return model


def _member(archive: zipfile.ZipFile, name: str, most_bytes: int) -> bytes:
    """The content of a member that is stored as it is, as Keras stores it."""
    information = archive.getinfo(name)
    if information.compress_type != zipfile.ZIP_STORED or information.file_size > most_bytes:
        raise InputError(f"{name} in it is compressed or has more than {most_bytes:,} bytes")
    return archive.read(name)


def _configuration(values: Mapping[str, Any]) -> tuple[ModelConfig, int]:
    """The checked configuration of the model, and the size of its vocabulary."""
    values = present_settings(values)
    vocab_size = values.get("vocab_size")
    if not isinstance(vocab_size, int) or not 0 < vocab_size < 2**31:
        raise InputError("its vocab_size is no number of symbols")
    kind = _family(values)
    settings = {field.name for field in fields(kind)}
    try:
        return kind(**{name: value for name, value in values.items() if name in settings}), vocab_size
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(f"its configuration is damaged: {first['loc']}: {first['msg']}") from None


def _family(values: Mapping[str, Any]) -> type[ModelConfig]:
    family = values.get("family", DEFAULT_FAMILY)
    if family not in family_configs():
        raise InputError(f"there is no family {family!r}")
    return family_configs()[family]


def _policy(saved: Any) -> str | None:
    """The name of the saved dtype policy: the name itself, or what Keras writes for it. None if there is none."""
    name = saved["config"]["name"] if isinstance(saved, dict) else saved
    if name not in (None, *_POLICIES):
        raise InputError(f"there is no dtype policy {shown(name)}")
    return name


def _num_floats(content: bytes) -> int:
    """Number of floats in all arrays of an HDF5 file, from their headers.

    Raises:
        InputError: an array claims more bytes than the file has.
    """
    numbers: list[int] = []

    def add(_: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind != "u":  # random states of layers are unsigned integers
            numbers.append(item.size * (1 if item.dtype.kind == "f" else _LARGEST_FLOAT_BYTES))

    with h5py.File(io.BytesIO(content), "r") as file:
        file.visititems(add)
    if sum(numbers) > len(content):
        raise InputError(f"its arrays claim {sum(numbers):,} numbers, but the file has {len(content):,} bytes")
    return sum(numbers)
