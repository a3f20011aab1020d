"""Settings in layers: a YAML file lies on its preset, and overrides lie on both.

A file or an override may choose another family of models than the preset or file below it. Then the settings below
that only the former family has, and its variant, are left out.
"""

import difflib
import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bytenet.config.keys import CHOICES, Keys, family_of, owners
from bytenet.config.old_names import with_present_names
from bytenet.config.preset_files import preset_files
from bytenet.config.settings_text import Setting, read_settings
from bytenet.errors import ConfigError, MissingFileError, nearest, shown
from bytenet.limits import MOST_CONFIG_BYTES, read_limited

_SUFFIXES = (".yaml", ".yml")


def preset_names() -> list[str]:
    """The presets of the package, sorted."""
    return sorted(preset_files())


def named_settings(name: str | None) -> tuple[str | None, list[Setting]]:
    """The preset that is named, or that a file names; and all settings of both.

    Args:
        name: of a preset, or the path of a YAML file; None for neither.

    Raises:
        ConfigError, MissingFileError, InputError: as for `bytenet.config.load_config`.
    """
    if name is None:
        return None, []
    if name in preset_names():
        return name, _preset(name, place="")
    if _is_file(name):
        preset, settings = read_settings(_read_file(name), name)
        return preset, _on_preset(preset, settings, name)
    if name and Path(name).is_dir():
        raise ConfigError(
            f"{name} is a folder; expected a preset or a YAML file. The settings of a run are in its config.yaml."
        )
    if os.sep in name or name.endswith(_SUFFIXES):
        raise MissingFileError(f"There is no configuration file {name}.{_suggested_file(Path(name))}")
    raise ConfigError(_unknown_preset(name, place=""))


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError as error:
        raise ConfigError(f"{shown(name)} is not the name of a preset or a file: {error.strerror}.") from None


def _read_file(name: str) -> str:
    try:
        return read_limited(name, MOST_CONFIG_BYTES, "a configuration").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name}: not UTF-8 at byte {error.start}. Save the file as UTF-8.") from None


def _on_preset(preset: str | None, settings: list[Setting], place: str) -> list[Setting]:
    """The settings of a file, and below them those of its preset, if it names one."""
    settings = with_present_names(settings)
    return _without_implied(settings) if preset is None else with_changes(_preset(preset, place), settings)


def with_changes(settings: list[Setting], changes: list[Setting]) -> list[Setting]:
    """The settings with the changes on top.

    If the changes choose another family, the variant and the settings that only other families have are left out.
    """
    by_key = {setting.key: setting for setting in changes}
    if "model.family" not in by_key:
        return [*settings, *changes]
    family = family_of({setting.key: setting for setting in with_present_names([*by_key.values()])})
    if family is family_of({setting.key: setting for setting in settings}):
        return [*settings, *changes]
    keys = Keys(family)
    kept = [
        setting
        for setting in settings
        if setting.key != "model.variant" and (setting.key in keys.all or not owners(setting.key))
    ]
    return [*kept, *changes]


def _without_implied(settings: list[Setting]) -> list[Setting]:
    """Remove the values that follow from `model.variant` and `model.settings`, if a file has all settings of the model.

    The configuration of a run is such a file. A later `--set model.variant=...` must also replace the values of the old
    variant.
    """
    by_key = {setting.key: setting for setting in settings}
    family = family_of(by_key)
    keys = [f"model.{field.name}" for field in fields(family)]
    if not all(key in by_key for key in keys):
        return settings
    try:
        implied = asdict(family(**{key.partition(".")[2]: by_key[key].value for key in CHOICES}))
    except ValidationError:  # reported later, with all other mistakes
        return settings
    return [
        setting
        for setting in settings
        if setting.key not in keys
        or setting.key in CHOICES
        or setting.value != _as_yaml(implied[setting.key.partition(".")[2]])
    ]


def _as_yaml(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _preset(name: str, place: str) -> list[Setting]:
    if (file := preset_files().get(name)) is None:
        raise ConfigError(_unknown_preset(name, place))
    place = f"preset {name}"
    return _on_preset(*read_settings(file.read_text(encoding="utf-8"), place), place)


def _unknown_preset(name: str, place: str) -> str:
    where = f"{place}: " if place else ""
    advice = nearest(name, preset_names()) or _all_choices()
    return f"{where}{shown(name)} is neither a preset nor a file.{advice}"


def _all_choices() -> str:
    return f" Give the path of a YAML file, or one of the presets {', '.join(preset_names())}."


def _suggested_file(path: Path) -> str:
    """The nearest YAML file in the folder of a missing one, or the nearest preset; else what can be given."""
    try:
        files = {file.stem: file for file in path.parent.iterdir() if file.suffix in _SUFFIXES}
    except OSError:  # there is no such folder
        files = {}
    if close := difflib.get_close_matches(path.stem, files, n=1):
        return f" Did you mean {files[close[0]]}?"
    return nearest(path.stem, preset_names(), 0.8) or _all_choices()
