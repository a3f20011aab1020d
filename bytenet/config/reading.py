"""Reading the configuration of a run from presets, YAML files and --set.

`load_config("numbers", ["training.epochs=5"])` reads a configuration. Its first argument names a preset of the package
or a YAML file. With `preset: NAME`, a file gives only the values that differ from the preset. The settings are in
`bytenet.config.sections` and `bytenet.config.families`.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from bytenet.config.building import build_config
from bytenet.config.config import Config
from bytenet.config.families import family_configs
from bytenet.config.keys import CHOICES, Keys
from bytenet.config.layered_settings import named_settings, with_changes
from bytenet.config.sections.data import DataConfig
from bytenet.config.settings_text import Setting, parse_override

_SIZES = ("model.dim", *CHOICES)  # settings that say how large a model is
_LANGUAGES = ("data.source_language", "data.target_language")


@dataclass(frozen=True)
class ConfigSources:
    """The settings of a preset or file, and the overrides of `--set`, before they are checked.

    Attributes:
        preset_or_file: the name of the preset or the path of the file; None if there is neither.
        preset: the preset that is named, or that the file names.
        settings: all settings of the file, on those of its preset.
        overrides: the settings of `--set`.
    """

    preset_or_file: str | None
    preset: str | None
    settings: list[Setting]
    overrides: list[Setting]

    @classmethod
    def read(cls, preset_or_file: str | os.PathLike[str] | None, overrides: Iterable[str] = ()) -> Self:
        """Read a preset or a YAML file, and overrides. For arguments and errors see `load_config`."""
        changes = [parse_override(override) for override in overrides]
        name = None if preset_or_file is None else os.fspath(preset_or_file)
        return cls(name, *named_settings(name), changes)

    def config(self, base: str | os.PathLike[str] | None = None) -> Config:
        """The configuration, with all values checked.

        Args:
            base: another preset or file, for sources that name no preset. Its settings lie below theirs.

        Raises:
            ConfigError, MissingFileError: as for `load_config`.
        """
        preset, settings = self.preset, self.settings
        if preset is None and base is not None:
            preset, below = named_settings(os.fspath(base))
            settings = with_changes(below, settings)
        settings = with_changes(settings, self.overrides)
        return build_config(settings if preset else _with_usual_size(settings))

    def data_config(self) -> DataConfig:
        """The settings of the data alone. Other settings are not read.

        Raises:
            ConfigError, MissingFileError: as for `load_config`.
        """
        of_data = [setting for setting in [*self.settings, *self.overrides] if setting.key.startswith("data.")]
        return build_config(of_data).data

    @property
    def leaves_model_open(self) -> bool:
        """Whether the file lacks a preset and says nothing of the model's size."""
        return self.lacks_preset and not self.is_semi_supervised and not self.named_sizes

    @property
    def lacks_preset(self) -> bool:
        """Whether a corpus is named, but no preset."""
        return self.preset is None and "data.corpus" in self._values

    @property
    def is_semi_supervised(self) -> bool:
        """Whether a setting of training with monolingual text is named. It has presets of its own."""
        return any(key.startswith("semi_supervised.") for key in self._values)

    @property
    def names_length(self) -> bool:
        """Whether the length of the training is named."""
        return not self._values.keys().isdisjoint(("training.epochs", "training.max_steps"))

    @property
    def named_sizes(self) -> list[str]:
        """The settings of the file that say how large the model is."""
        return [setting.key for setting in self.settings if setting.key in _SIZES]

    def misfit(self, family: str) -> str | None:
        """The setting because of which no preset with a model of this family can lie below the others, or None.

        It names another family, chooses a variant without naming a family, or is one that the family lacks.
        """
        values = self._values
        if "model.family" in values:
            return "model.family" if values["model.family"] != family else None
        known = Keys(family_configs()[family]).all
        of_model = (key for key in values if key.startswith("model."))
        return next((key for key in of_model if key in CHOICES or key not in known), None)

    def value(self, key: str) -> Any:
        """The value of a setting that is named, not checked; None if it is not named."""
        return self._values.get(key)

    @property
    def names_no_corpus(self) -> bool:
        """Whether there is a file, and neither a preset nor a corpus is named."""
        return self.preset_or_file is not None and self.preset is None and "data.corpus" not in self._values

    @property
    def lacks_files(self) -> bool:
        """Whether the preset is one for files of the user, such as `pairs-10k`, and no files are named."""
        values = self._values
        of_files = self.preset is not None and values.get("data.corpus") == "files"
        return of_files and values.keys().isdisjoint(("data.train_source", "data.train_target"))

    @property
    def lacks_languages(self) -> bool:
        """Whether the corpus is files of the user, and not both of their languages are named.

        A preset for such files, as `pairs-10k`, does not name them: it has those of the preset that it is based on.
        """
        of_preset = {setting.key: setting.value for setting in self.settings if setting.place.startswith("preset ")}
        named = {
            setting.key for setting in [*self.settings, *self.overrides] if not setting.place.startswith("preset ")
        }
        if of_preset.get("data.corpus") != "files":
            named |= of_preset.keys()
        return self._values.get("data.corpus") == "files" and not named.issuperset(_LANGUAGES)

    @property
    def _values(self) -> dict[str, Any]:
        return {setting.key: setting.value for setting in [*self.settings, *self.overrides]}


def load_config(preset_or_file: str | os.PathLike[str] | None, overrides: Iterable[str] = ()) -> Config:
    """Read a preset or a YAML file, apply the overrides, and check all values.

    Args:
        preset_or_file: the name of a preset, or the path of a YAML file (`./numbers` for a file with a preset's name).
            None is an empty file.
        overrides: texts `section.key=value`, with values in YAML. If a key is repeated, the last value is used.

    Raises:
        ConfigError: a preset or key does not exist (the message names the nearest one), or a value is not allowed.
        MissingFileError: the file does not exist.
        InputError: the file cannot be read, or is larger than 64 kB.
    """
    return ConfigSources.read(preset_or_file, overrides).config()


def _with_usual_size(settings: list[Setting]) -> list[Setting]:
    """Add a width that two CPU cores can train, if nothing says how large the model is.

    The default of ByteNet's configuration is the thesis's 400, for GPUs.
    """
    if any(setting.key in _SIZES for setting in settings):
        return settings
    return [*settings, Setting("model.dim", 128, "the default")]
