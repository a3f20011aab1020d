"""The YAML files of `bytenet.presets`, and the measured figures beside them."""

from importlib import resources
from importlib.resources.abc import Traversable

_SUFFIX = ".yaml"


def preset_files() -> dict[str, Traversable]:
    """The files of the presets, by the names of the presets."""
    return {name: file for folder in _folders() for name, file in _yaml_files(folder).items()}


def measured_files() -> dict[str, Traversable]:
    """The files with measured figures, by the names of the presets that have some."""
    folders = (folder / "measured" for folder in _folders())
    return {name: file for folder in folders if folder.is_dir() for name, file in _yaml_files(folder).items()}


def _folders() -> list[Traversable]:
    return [folder for folder in resources.files("bytenet.presets").iterdir() if folder.is_dir()]


def _yaml_files(folder: Traversable) -> dict[str, Traversable]:
    return {file.name.removesuffix(_SUFFIX): file for file in folder.iterdir() if file.name.endswith(_SUFFIX)}
