"""The languages that a model reads and writes."""

import os

from bytenet.errors import InputError
from bytenet.lite.pretrained import name_or_path

#: Languages that write no blank after a sentence.
WITHOUT_BLANKS = frozenset({"ja", "zh"})


def base_language(code: str) -> str:
    """The code of a language without its region or script: "de" for "de-AT", "de_DE" and "DE"."""
    return code.replace("_", "-").partition("-")[0].lower()


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
