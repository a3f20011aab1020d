"""The configuration of a run, read from presets, YAML files and --set.

A configuration is read as `load_config("numbers", ["training.epochs=5"])`, where the first argument names a
preset of the package or a YAML file; a file may begin with `preset: NAME` and then gives only what differs
from that preset. The settings themselves, with their defaults, stand in `bytenet.config_sections`.
"""

import difflib
import os
from collections.abc import Iterable
from dataclasses import asdict, field, fields
from importlib import resources
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from bytenet.config_sections import (
    DataConfig,
    DecodingConfig,
    EvaluationConfig,
    ModelConfig,
    SemiSupervisedConfig,
    TrainingConfig,
    checked,
)
from bytenet.errors import ConfigError, MissingFileError
from bytenet.settings_text import Setting, parse_override, read_settings, write_settings

__all__ = [
    "PATH_KEYS",
    "Config",
    "DataConfig",
    "DecodingConfig",
    "EvaluationConfig",
    "ModelConfig",
    "SemiSupervisedConfig",
    "TrainingConfig",
    "load_config",
    "preset_names",
]


@checked
class Config:
    """One whole run."""

    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    semi_supervised: SemiSupervisedConfig = field(default_factory=SemiSupervisedConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)

    def to_yaml(self) -> str:
        """Every setting as YAML, defaults included; `load_config` reads it back to an equal configuration."""
        return write_settings(asdict(self))

    def differences(self, other: Self) -> list[tuple[str, Any, Any]]:
        """Every dotted key whose value differs, with the value here and the value in `other`."""
        theirs = other.settings()
        return [(key, value, theirs[key]) for key, value in self.settings().items() if value != theirs[key]]

    def settings(self) -> dict[str, Any]:
        """Every setting by its dotted key."""
        return {f"{section}.{key}": value for section, values in asdict(self).items() for key, value in values.items()}


_SECTIONS = {section.name: section.default_factory for section in fields(Config)}
_KEYS = [f"{section}.{key.name}" for section, kind in _SECTIONS.items() for key in fields(kind)]
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
    return settings if preset is None else [*_preset(preset, place), *settings]


def _preset(name: str, place: str) -> list[Setting]:
    if name not in preset_names():
        raise ConfigError(_unknown_preset(name, place))
    text = (resources.files("bytenet") / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    return _with_preset(text, place=f"preset {name}")


def _unknown_preset(name: str, place: str) -> str:
    where = f"{place}: " if place else ""
    return (
        f"{where}{name!r} is neither a preset nor a file.{_nearest(name, preset_names())} The presets are "
        f"{', '.join(preset_names())}; anything else is the path of a YAML file."
    )


def _nearest(word: str, known: list[str]) -> str:
    """Give " Did you mean ...?", or nothing if no known word is near."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f" Did you mean {close[0]}?" if close else ""


def _check_key(setting: Setting) -> None:
    if setting.key in _KEYS:
        return
    section, _, key = setting.key.partition(".")
    if setting.key in _SECTIONS:
        raise ConfigError(f"{setting.place}: {section!r} is a section; give {section}.KEY=VALUE.")
    elsewhere = [known for known in _KEYS if known.partition(".")[2] == (key or section)]
    if elsewhere:
        hint = f" Did you mean {elsewhere[0]}?"
    elif section in _SECTIONS:
        hint = _nearest(setting.key, [known for known in _KEYS if known.startswith(f"{section}.")])
        hint = hint or f" The keys of {section} are: {', '.join(kind.name for kind in fields(_SECTIONS[section]))}."
    else:
        hint = _nearest(setting.key, [*_KEYS, *_SECTIONS]) or f" The sections are: {', '.join(_SECTIONS)}."
    raise ConfigError(f"{setting.place}: there is no setting {setting.key!r}.{hint}")


def _build(settings: Iterable[Setting]) -> Config:
    """Make a configuration of settings, of which the last one of a key counts."""
    given: dict[str, Setting] = {}
    for setting in settings:
        _check_key(setting)
        given[setting.key] = setting
    sections: dict[str, Any] = {}
    for section, kind in _SECTIONS.items():
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
