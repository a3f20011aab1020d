"""The configuration that a command works with, and what people should know about it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from bytenet.cli.common.messages import say

if TYPE_CHECKING:
    from bytenet.config import Config

_TRAINING_FILES = ("data.train_source=", "data.train_target=")
_ADVICE_ON_FILES = (
    "\nFor your own text, add: --set data.corpus=files --set data.train_source=FILE --set data.train_target=FILE"
)


def check_is_named(preset_or_file: str | None, overrides: Sequence[str], example: str) -> None:
    """Raise a UsageError if neither a preset, nor a file, nor a corpus is named.

    Args:
        preset_or_file: of the command.
        overrides: the values of `--set`.
        example: commands that would work, for the message.
    """
    if preset_or_file is None and not any(override.startswith("data.corpus=") for override in overrides):
        own_text = any(override.startswith(_TRAINING_FILES) for override in overrides)
        raise click.UsageError(f"Missing PRESET_OR_FILE, for example: {example}{_ADVICE_ON_FILES if own_text else ''}")


def read_sized_config(preset_or_file: str | None, overrides: Sequence[str]) -> "Config":
    """The configuration of a preset or a file with changes.

    Prints on stderr which preset was chosen if none was named, and which changed settings have no effect.
    """
    from bytenet.config.settings_without_effect import settings_without_effect
    from bytenet.presets.by_size import load_sized_config

    config, choice, _ = load_sized_config(preset_or_file, overrides)
    for line in (*([choice] if choice else []), *(f"warning: {line}" for line in settings_without_effect(config))):
        say(line)
    return config
