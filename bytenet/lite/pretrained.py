"""The models that ship with the package, by name, such as "de-en"."""

import difflib
import os
from importlib import resources
from pathlib import Path

from bytenet.errors import MissingFileError
from bytenet.lite.archive import SUFFIX, is_model_file


def _folder() -> Path:
    return Path(str(resources.files("bytenet") / "pretrained"))


def pretrained_names() -> list[str]:
    """The names of the models that ship, sorted. There may be none."""
    return sorted(path.stem for path in _folder().glob(f"*{SUFFIX}"))


def pretrained_path(name: str) -> Path:
    """The `.bytenet` file of a model that ships.

    Raises:
        MissingFileError: there is no model of that name.
    """
    if name not in pretrained_names():
        name = str(name)
        raise MissingFileError(f"No model named {name[:40]!r} ships with this version of bytenet. {names_hint(name)}")
    return _folder() / f"{name}{SUFFIX}"


def pretrained_name(path: str | os.PathLike[str]) -> str | None:
    """The name of the model that ships which a name or the path of its file stands for; None for another model."""
    if is_pretrained(path):
        return os.fspath(path)
    path = Path(path)
    return path.stem if path.stem in pretrained_names() and path == pretrained_path(path.stem) else None


def is_pretrained(name: str | os.PathLike[str]) -> bool:
    """Whether a name stands for a model that ships. A file or the folder of a run with that name comes first."""
    path = Path(name)
    return os.fspath(name) in pretrained_names() and not path.is_file() and not (path / "config.yaml").is_file()


def model_path(model: str | os.PathLike[str]) -> Path:
    """The path that a name stands for: the name itself, or the file of a model that ships with the package.

    Raises:
        MissingFileError: it is neither a file nor a name.
    """
    path = Path(model)
    is_path = is_model_file(path) or (path.exists() and not is_pretrained(path))
    return path if is_path else pretrained_path(os.fspath(model))


def names_hint(name: str) -> str:
    """What to do instead of a name that no model has: the nearest name, and all names."""
    names = pretrained_names()
    if not names:
        return "It has no models: train one, or give the path of a .bytenet file."
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"{f'Did you mean {close[0]}? ' if close else ''}It has {', '.join(names)}."
