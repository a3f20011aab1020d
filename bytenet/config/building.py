"""A checked configuration from settings."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from bytenet.config.checks import problem_of
from bytenet.config.config import Config
from bytenet.config.keys import Keys, family_of
from bytenet.config.old_names import with_present_names
from bytenet.config.settings_text import Setting
from bytenet.errors import ConfigError, shown

_MODEL_KEYS = (
    "training.start", "semi_supervised.start_forward", "semi_supervised.start_backward", "decoding.rerank_with",
)  # fmt: skip
"""The settings that name another model: the path of a run or model file, or a pretrained model."""

PATH_KEYS = (
    *(
        f"data.{split}_{side}"
        for split in ("train", "validation", "test", "monolingual", "synthetic")
        for side in ("source", "target")
    ),
    "data.train_shards",
    *_MODEL_KEYS,
)
"""The settings that are paths."""


def build_config(settings: Iterable[Setting]) -> Config:
    """Make a configuration. If a key is repeated, its last value is used.

    Raises:
        ConfigError: there is no setting of a name (the message names the nearest one), or a value is not allowed.
    """
    last_values = {setting.key: setting for setting in settings}
    by_key = {setting.key: setting for setting in with_present_names([*last_values.values()])}
    keys = Keys(family_of(by_key))
    by_key = {key: setting for key, setting in by_key.items() if not keys.can_ignore(setting)}
    for setting in by_key.values():
        keys.check(setting)
    sections: dict[str, Any] = {}
    for section, kind in keys.classes.items():
        of_section = [setting for key, setting in by_key.items() if key.startswith(f"{section}.")]
        try:
            sections[section] = kind(**{setting.key.partition(".")[2]: _absolute(setting) for setting in of_section})
        except ValidationError as error:
            raise ConfigError(_describe(error, section, by_key)) from None
    return Config(**sections)


def _absolute(setting: Setting) -> Any:
    """The value of a setting. Paths become absolute; the name of a pretrained model stays a name."""
    if setting.key not in PATH_KEYS or not isinstance(setting.value, str) or not setting.value:
        return setting.value
    if setting.key in _MODEL_KEYS:
        from bytenet.lite.pretrained import is_pretrained

        if is_pretrained(setting.value):
            return setting.value
    return os.path.abspath(os.path.expanduser(setting.value))


def _describe(error: ValidationError, section: str, by_key: Mapping[str, Setting]) -> str:
    """One line for each wrong setting: its place, the key, the value found, and the values allowed."""
    problems: dict[str, str] = {}
    for item in error.errors(include_url=False):
        message = problem_of(item)
        if not item["loc"]:  # a check between several settings
            problems[section] = f"{section}: {message}."
            continue
        setting = by_key[f"{section}.{item['loc'][0]}"]
        start = f"{setting.place}: {setting.key} is {shown(setting.value)}, but "
        # For a union, each member has a message. They go into one line.
        problems[setting.key] = (
            f"{problems[setting.key][:-1]}, or {message}." if setting.key in problems else f"{start}{message}."
        )
    return "\n".join(problems.values())
