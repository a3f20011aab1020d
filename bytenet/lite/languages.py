"""The languages that a model reads and writes."""

import os
from collections.abc import Mapping
from typing import Any

from bytenet.errors import InputError
from bytenet.lite.archive import SETTINGS
from bytenet.lite.pretrained import name_or_path

#: Languages that write no blank after a sentence.
WITHOUT_BLANKS = frozenset({"ja", "zh"})


def base_language(code: str) -> str:
    """The code of a language without its region or script: "de" for "de-AT", "de_DE" and "DE"."""
    return code.replace("_", "-").partition("-")[0].lower()


def languages_of(settings: Mapping[str, Any], path: str | os.PathLike[str]) -> tuple[str, str]:
    """The languages that a `.bytenet` file reads and writes.

    Args:
        settings: of the file, not checked.
        path: of the file, for the message.

    Raises:
        InputError: the settings do not name both.
    """
    data = settings.get("data")
    if isinstance(data, dict):
        source, target = data.get("source_language"), data.get("target_language")
        if isinstance(source, str) and isinstance(target, str):
            return source, target
    raise InputError(f"{SETTINGS} of {os.fspath(path)} has no languages. Export the model again.")


def check_direction(
    path: str | os.PathLike[str], languages: tuple[str, str], expected: tuple[str, str], role: str, advice: str = ""
) -> None:
    """Check that a model translates in a direction.

    Args:
        path: of the model, for the message.
        languages: that it reads and writes.
        expected: that it should read and write.
        role: what the model is for, for the message.
        advice: a sentence at the end of the message, with a blank before it.

    Raises:
        InputError: it has another direction.
    """
    if languages != expected:
        raise InputError(
            f"{role}: {name_or_path(path)} translates {' to '.join(languages)}; expected a model from "
            f"{' to '.join(expected)}.{advice}"
        )
