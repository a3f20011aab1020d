"""One module for each family of models, with one subclass of `ModelConfig`. Every module in this folder is a family."""

import importlib
import pkgutil
import sys
from functools import cache

from bytenet.config.model import ModelConfig

DEFAULT_FAMILY = "bytenet"


@cache
def family_descriptions() -> dict[str, str]:
    """A line about each family, by its name: the beginning of its module's docstring."""
    return {
        name: (sys.modules[config_class.__module__].__doc__ or "").partition("\n")[0]
        for name, config_class in family_configs().items()
    }


@cache
def family_configs() -> dict[str, type[ModelConfig]]:
    """The configuration class of each family, by the family's name, which is its module's."""
    classes = {}
    for module in pkgutil.iter_modules(__path__):
        members = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
        classes[module.name] = next(
            member
            for member in members
            if isinstance(member, type) and issubclass(member, ModelConfig) and member is not ModelConfig
        )
    return classes
