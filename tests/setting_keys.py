"""The dotted keys of all settings."""

from bytenet.config.families import family_configs
from bytenet.config.keys import Keys


def setting_keys() -> set[str]:
    """The keys of all settings, for all families of models."""
    return {key for family in family_configs().values() for key in Keys(family).all}
