"""The configuration of a run, read from presets, YAML files and --set.

A configuration is read as `load_config("numbers", ["training.epochs=5"])`, where the first argument names a
preset of the package or a YAML file; a file may begin with `preset: NAME` and then gives only what differs
from that preset. The settings stand in `bytenet.config.sections` and `bytenet.config.families`.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bytenet.config.config import Config
from bytenet.config.families import DEFAULT_FAMILY, family_configs
from bytenet.config.keys import Keys, nearest, owners
from bytenet.config.model import ModelConfig
from bytenet.config.settings_text import Setting, parse_override, read_settings
from bytenet.errors import ConfigError, MissingFileError

#: The settings that are paths of files.
PATH_KEYS = (
    *(
        f"data.{split}_{side}"
        for split in ("train", "validation", "test", "monolingual")
        for side in ("source", "target")
    ),
    "semi_supervised.start_forward",
    "semi_supervised.start_backward",
)


def preset_names() -> list[str]:
    """The presets of the package, sorted."""
    folder = resources.files("bytenet") / "presets"
    return sorted(file.name.removesuffix(".yaml") for file in folder.iterdir() if file.name.endswith(".yaml"))


def load_config(preset_or_file: str | os.PathLike[str], overrides: Iterable[str] = ()) -> Config:
    """Read a preset or a YAML file, put the overrides on top, and check the whole.

    Args:
        preset_or_file: the name of a preset, else the path of a YAML file (`./numbers` if it is called so).
        overrides: `section.key=value` each; the last one of a key counts. Values are YAML.

    Raises:
        ConfigError: an unknown preset or key (the message names the nearest one), or a value not allowed.
        MissingFileError: a path that does not exist.
    """
    name = os.fspath(preset_or_file)
    if name in preset_names():
        settings = _preset(name, place="")
    elif Path(name).is_file():
        settings = _with_preset(_read_file(name), place=name)
    elif os.sep in name or name.endswith((".yaml", ".yml")):
        raise MissingFileError(
            f"There is no configuration file {name}. Give the path of a YAML file, or one of the presets: "
            f"{', '.join(preset_names())}."
        )
    else:
        raise ConfigError(_unknown_preset(name, place=""))
    return _build([*settings, *map(parse_override, overrides)])


def _read_file(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name}: not UTF-8 at byte {error.start}. Save the file as UTF-8.") from None


def _with_preset(text: str, place: str) -> list[Setting]:
    preset, settings = read_settings(text, place)
    return _without_implied(settings) if preset is None else [*_preset(preset, place), *settings]


def _without_implied(settings: list[Setting]) -> list[Setting]:
    """Leave out the values that follow from `model.variant` and `model.settings`, if the file has all of the model.

    The file of a run is such a file. A later `--set model.variant=...` must replace the values of the old variant, too.
    """
    given = {setting.key: setting for setting in settings}
    family = _family(given)
    names = [f"model.{field.name}" for field in fields(family)]
    if not all(name in given for name in names):
        return settings
    chosen = [f"model.{name}" for name in ("family", "variant", "settings")]
    try:
        implied = asdict(family(**{name.partition(".")[2]: given[name].value for name in chosen}))
    except ValidationError:  # reported with all other mistakes
        return settings
    return [
        setting
        for setting in settings
        if setting.key not in names
        or setting.key in chosen
        or setting.value != _as_yaml(implied[setting.key.partition(".")[2]])
    ]


def _as_yaml(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _preset(name: str, place: str) -> list[Setting]:
    if name not in preset_names():
        raise ConfigError(_unknown_preset(name, place))
    text = (resources.files("bytenet") / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    return _with_preset(text, place=f"preset {name}")


def _unknown_preset(name: str, place: str) -> str:
    where = f"{place}: " if place else ""
    return (
        f"{where}{name!r} is neither a preset nor a file.{nearest(name, preset_names())} The presets are "
        f"{', '.join(preset_names())}; anything else is the path of a YAML file."
    )


def _family(given: Mapping[str, Setting]) -> type[ModelConfig]:
    setting = given.get("model.family")
    if setting is None or setting.value is None:
        return family_configs()[DEFAULT_FAMILY]
    if setting.value not in family_configs():
        known = list(family_configs())
        raise ConfigError(
            f"{setting.place}: model.family is {setting.value!r}, but should be one of {', '.join(known)}."
            f"{nearest(str(setting.value), known)}"
        )
    return family_configs()[setting.value]


def _says_nothing(setting: Setting, known: Iterable[str]) -> bool:
    """Whether a setting of another family can be left out: it is null, or that family's default.

    Run folders of older versions have the settings of all families.
    """
    if setting.key in known:
        return False
    return any(
        setting.value in (None, getattr(kind, setting.key.partition(".")[2])) for kind in owners(setting.key).values()
    )


def _build(settings: Iterable[Setting]) -> Config:
    """Make a configuration of settings, of which the last one of a key counts."""
    given = {setting.key: setting for setting in settings}
    keys = Keys(_family(given))
    given = {key: setting for key, setting in given.items() if not _says_nothing(setting, keys.all)}
    for setting in given.values():
        keys.check(setting)
    sections: dict[str, Any] = {}
    for section, kind in keys.classes.items():
        values = {
            key.partition(".")[2]: _absolute(setting) for key, setting in given.items() if key.startswith(f"{section}.")
        }
        try:
            sections[section] = kind(**values)
        except ValidationError as error:
            raise ConfigError(_describe(error, section, given)) from None
    return Config(**sections)


def _absolute(setting: Setting) -> Any:
    if setting.key in PATH_KEYS and isinstance(setting.value, str) and setting.value:
        return os.path.abspath(os.path.expanduser(setting.value))
    return setting.value


def _describe(error: ValidationError, section: str, given: dict[str, Setting]) -> str:
    """One line for each setting that does not fit: where, the key, the value found, what is allowed."""
    problems: dict[str, str] = {}
    for item in error.errors(include_url=False):
        message = item["msg"].removeprefix("Value error, ").removeprefix("Input ")
        message = message.replace("a valid tuple", "a list, such as [1, 2]")
        if not item["loc"]:  # a check between several settings
            problems[section] = f"{section}: {message}."
            continue
        setting = given[f"{section}.{item['loc'][0]}"]
        start = f"{setting.place}: {setting.key} is {setting.value!r}, but "
        # A union reports each of its members; they belong into one line.
        problems[setting.key] = (
            f"{problems[setting.key][:-1]}, or {message}." if setting.key in problems else f"{start}{message}."
        )
    return "\n".join(problems.values())
