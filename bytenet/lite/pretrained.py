"""The pretrained models of the package, by name, such as "de-en"."""

import os
import re
from importlib import resources
from pathlib import Path

from bytenet.errors import InputError, MissingFileError, nearest, shown
from bytenet.lite.archive import SUFFIX, is_model_file

_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


def _folder() -> Path:
    return Path(str(resources.files("bytenet") / "pretrained"))


def pretrained_names() -> list[str]:
    """The names of the pretrained models, sorted. There may be none."""
    return sorted(path.stem for path in _folder().glob(f"*{SUFFIX}"))


def pretrained_path(name: str) -> Path:
    """The `.bytenet` file of a pretrained model.

    Raises:
        MissingFileError: there is no model of that name.
    """
    if name not in pretrained_names():
        name = str(name)
        raise MissingFileError(f"There is no pretrained model named {name[:40]!r}. {names_hint(name)}")
    return _folder() / f"{name}{SUFFIX}"


def pretrained_name(path: str | os.PathLike[str]) -> str | None:
    """The name of a pretrained model, from its name or the path of its file; None for another model."""
    if is_pretrained(path):
        return os.fspath(path)
    path = Path(path)
    return path.stem if path.stem in pretrained_names() and path == pretrained_path(path.stem) else None


def name_or_path(path: str | os.PathLike[str]) -> str:
    """What a message calls a model: the name of a pretrained model, or the path of another."""
    return pretrained_name(path) or os.fspath(path)


def is_pretrained(name: str | os.PathLike[str]) -> bool:
    """Whether a name stands for a pretrained model. A file or the folder of a run with that name comes first."""
    has_path = os.path.isfile(name) or os.path.isfile(os.path.join(name, "config.yaml"))
    return os.fspath(name) in pretrained_names() and not has_path


def model_path(model: str | os.PathLike[str]) -> Path:
    """The path that a name stands for: the name itself, or the file of a pretrained model of the package.

    Raises:
        MissingFileError: it is neither a file nor a name.
    """
    path = Path(model)
    if path.parent == _folder():
        return pretrained_path(path.stem)
    # Unlike Path.exists, os.path.exists takes a text that is too long for a path.
    is_path = is_model_file(path) or (os.path.exists(path) and not is_pretrained(path))
    return path if is_path else pretrained_path(os.fspath(model))


def named_path(name: object, where: str | os.PathLike[str]) -> Path:
    """The path of the pretrained model that another file names. There may be no such model.

    A file can name nothing else: otherwise it could make us open any path.

    Args:
        name: what the file has as a name.
        where: the file, for the message.

    Raises:
        InputError: it is not the name of a model.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{where} names {shown(name)} to rerank with; expected the name of a pretrained model.")
    return _folder() / f"{name}{SUFFIX}"


def names_hint(name: str) -> str:
    """What to do instead of a name that no pretrained model has: the nearest name, and all names."""
    names = pretrained_names()
    if not names:
        return "This version has none: train one, or give the path of a .bytenet file."
    return f"{nearest(name, names)} The pretrained models are {', '.join(names)}.".lstrip()
