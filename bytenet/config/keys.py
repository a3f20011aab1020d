"""The names of all settings, and what a wrong one may have meant."""

import difflib
from dataclasses import fields, is_dataclass
from typing import get_type_hints

from bytenet.config.config import Config
from bytenet.config.families import family_configs
from bytenet.config.model import ModelConfig
from bytenet.config.settings_text import Setting
from bytenet.errors import ConfigError


def nearest(word: str, known: list[str]) -> str:
    """Give " Did you mean ...?", or nothing if no known word is near."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f" Did you mean {close[0]}?" if close else ""


class Keys:
    """The sections and keys of a configuration whose model is of a family."""

    def __init__(self, family: type[ModelConfig]):
        sections = {name: kind for name, kind in get_type_hints(Config).items() if is_dataclass(kind)}
        sections["model"] = self._model = family
        self.classes = sections
        self.sections = {section: [key.name for key in fields(kind)] for section, kind in sections.items()}
        self.all = [f"{section}.{key}" for section, keys in self.sections.items() for key in keys]

    def check(self, setting: Setting) -> None:
        """Raise a ConfigError that names the nearest key, if there is none of this name."""
        if setting.key in self.all:
            return
        section, _, key = setting.key.partition(".")
        if setting.key in self.sections:
            raise ConfigError(f"{setting.place}: {section!r} is a section; give {section}.KEY=VALUE.")
        elsewhere = [known for known in self.all if known.partition(".")[2] == (key or section)]
        of_families = list(owners(setting.key))
        if of_families:
            hint = (
                f" Models of the family {self._family!r} have none; those of {' and '.join(of_families)} have. "
                f"The keys of model are: {', '.join(self.sections['model'])}."
            )
        elif elsewhere:
            hint = f" Did you mean {elsewhere[0]}?"
        elif section in self.sections:
            hint = nearest(setting.key, [known for known in self.all if known.startswith(f"{section}.")])
            hint = hint or f" The keys of {section} are: {', '.join(self.sections[section])}."
        else:
            hint = (
                nearest(setting.key, [*self.all, *self.sections]) or f" The sections are: {', '.join(self.sections)}."
            )
        raise ConfigError(f"{setting.place}: there is no setting {setting.key!r}.{hint}")

    @property
    def _family(self) -> str:
        return self._model.family


def setting_keys() -> set[str]:
    """The dotted keys of all settings, of all families of models."""
    return {key for family in family_configs().values() for key in Keys(family).all}


def owners(key: str) -> dict[str, type[ModelConfig]]:
    """The families whose models have a setting `model.KEY`."""
    section, _, name = key.partition(".")
    return {
        family: kind
        for family, kind in family_configs().items()
        if section == "model" and name in {field.name for field in fields(kind)}
    }
