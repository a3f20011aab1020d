"""The forms of an exported translator, and which arguments go with them. Nothing here imports TensorFlow."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bytenet.errors import InputError
from bytenet.lite.archive import SUFFIX

if TYPE_CHECKING:
    from bytenet.decoding.export.litert import Precision
    from bytenet.decoding.export.model_file import Engines

Format = Literal["saved-model", "litert", "bytenet"]


def problem_of_arguments(
    form: Format,
    precision: "Precision",
    engines: "Engines",
    jit_compile: bool,
    languages: tuple[str, str] | None,
    max_length: int | None,
    card: object,
) -> str | None:
    """Which argument of `export` is not for a form; None if all are."""
    for name, is_given in (
        ("engines (--engine)", engines != "both"),
        ("languages", languages is not None),
        ("max_length", max_length is not None),
        ("card (--card)", card is not None),
    ):
        if is_given and form != "bytenet":
            return f"The argument {name} is for .bytenet files, but the format is {form}."
    if precision != "float32" and form == "saved-model":
        return f"precision is {precision}, but a SavedModel has weights in float32."
    if jit_compile and form != "saved-model":
        return f"jit_compile (--xla) is for SavedModels, but the format is {form}."
    return None


def check_name(path: str | os.PathLike[str], form: Format) -> None:
    """Check that the commands will find out what a file is.

    Raises:
        InputError: a model file has another extension than .bytenet.
    """
    if form == "bytenet" and Path(path).suffix != SUFFIX:
        raise InputError(f"{path} does not end in {SUFFIX}, so no command would take it for a model. Add {SUFFIX}.")


def form_of(path: str | os.PathLike[str]) -> Format:
    """The form that the name of a path stands for.

    Raises:
        InputError: it has another ending.
    """
    forms: dict[str, Format] = {SUFFIX: "bytenet", ".tflite": "litert", "": "saved-model"}
    suffix = Path(path).suffix
    if suffix not in forms:
        raise InputError(
            f"{path} ends in {suffix!r}, which names no format. Give a name that ends in .bytenet or .tflite, a name "
            "without a dot for a SavedModel, or --format."
        )
    return forms[suffix]
