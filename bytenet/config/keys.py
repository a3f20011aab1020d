"""The names of all settings, which depend on the family of the model, and suggestions for wrong names."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from bytenet.config.config import Config
from bytenet.config.families import DEFAULT_FAMILY, family_configs
from bytenet.config.model import ModelConfig
from bytenet.config.settings_text import Setting
from bytenet.errors import ConfigError, nearest, shown

CHOICES = ("model.family", "model.variant", "model.settings")
"""These settings decide the defaults of the other settings of the model."""


class Keys:
    """The sections and keys of a configuration with a model of one family.

    Attributes:
        classes: the class of each section.
        sections: the keys of each section.
        all: all dotted keys.
    """

    def __init__(self, family: type[ModelConfig]):
        self.classes: dict[str, type[Any]] = {
            name: kind for name, kind in get_type_hints(Config).items() if isinstance(kind, type) and is_dataclass(kind)
        }
        self.classes["model"] = self._model = family
        self.sections = {section: [key.name for key in fields(kind)] for section, kind in self.classes.items()}
        self.all = [f"{section}.{key}" for section, keys in self.sections.items() for key in keys]

    def check(self, setting: Setting) -> None:
        """Raise a ConfigError with a suggestion if there is no such key."""
        if setting.key not in self.all:
            if setting.key in self.sections:
                example = f"{setting.key}.{self.sections[setting.key][0]}"
                raise ConfigError(
                    f"{setting.place}: {setting.key!r} is a section; expected values of its keys, such as {example}."
                )
            raise ConfigError(f"{setting.place}: there is no setting {setting.key!r}.{self._hint(setting.key)}")

    def can_ignore(self, setting: Setting) -> bool:
        """Whether a setting belongs only to other families, and is null or, in a file, the default of one of them.

        Run folders of older versions have the settings of all families.
        """
        if setting.key in self.all:
            return False
        name, families = setting.key.partition(".")[2], owners(setting.key).values()
        if setting.value is None:
            return bool(families)
        return not setting.is_override and any(setting.value == getattr(kind, name) for kind in families)

    def _hint(self, wrong_key: str) -> str:
        section, _, name = wrong_key.partition(".")
        if families := owners(wrong_key):
            return (
                f" Models of the family {self._model.family!r} do not have it; those of {' and '.join(families)} have. "
                f"The keys of model are: {', '.join(self.sections['model'])}."
            )
        if in_other_sections := [key for key in self.all if key.partition(".")[2] == (name or section)]:
            return f" Did you mean {in_other_sections[0]}?"
        if section in self.sections:
            keys = [key for key in self.all if key.startswith(f"{section}.")]
            return nearest(wrong_key, keys, 0.5) or f" The keys of {section} are: {', '.join(self.sections[section])}."
        return nearest(wrong_key, [*self.all, *self.sections], 0.5) or f" The sections are: {', '.join(self.sections)}."


def owners(key: str) -> dict[str, type[ModelConfig]]:
    """The families whose models have the setting `model.KEY`."""
    section, _, name = key.partition(".")
    return {
        family: kind
        for family, kind in family_configs().items()
        if section == "model" and name in {field.name for field in fields(kind)}
    }


def family_of(by_key: Mapping[str, Setting]) -> type[ModelConfig]:
    """The family that settings choose with `model.family`, or the default one.

    Raises:
        ConfigError: there is no such family.
    """
    setting = by_key.get("model.family")
    if setting is None or setting.value is None:
        return family_configs()[DEFAULT_FAMILY]
    if not isinstance(setting.value, str) or setting.value not in family_configs():
        families = list(family_configs())
        raise ConfigError(
            f"{setting.place}: model.family is {shown(setting.value)}, but should be one of {', '.join(families)}."
            f"{nearest(str(setting.value), families)}"
        )
    return family_configs()[setting.value]
