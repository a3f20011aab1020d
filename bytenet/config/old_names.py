"""Settings of models by the names that they had in older versions.

The former family `attention` was the thesis's baseline. Its model is now in the family `recurrent`: its files and saved
models are read as the variants `madsen` and `madsen_bounded`.
"""

from collections.abc import Mapping
from typing import Any

from bytenet.config.settings_text import Setting

_FAMILY = "attention"
_VARIANTS = {None: "madsen", "dense": "madsen", "bounded": "madsen_bounded"}
_LAYERS, _DEFAULT_LAYERS = "num_layers", 3

SAVED_CLASS = "bytenet>AttentionModel"
"""The name of the former family's class in saved models."""


def present_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Replace old names and values by the present ones.

    Args:
        values: settings of a model by their names. Other settings stay as they are.

    Returns:
        The same settings for the present `ModelConfig` of the family.
    """
    present = dict(values)
    if "family" not in values and _LAYERS in values and "head" in values:
        # The first saved models of the family name neither family nor variant. Their heads are called as the variants.
        values = {"family": _FAMILY, "variant": values["head"]}
    if values.get("family") == _FAMILY:
        variant = values.get("variant")
        if variant is None or isinstance(variant, str):
            variant = _VARIANTS.get(variant, variant)
        present |= {"family": "recurrent", "variant": variant}
        if _LAYERS in present:
            present["encoder_layers"] = present.pop(_LAYERS)
    elif values.get(_LAYERS) in (None, _DEFAULT_LAYERS):
        # Files of older versions have the settings of all families.
        present.pop(_LAYERS, None)
    return present


def with_present_names(settings: list[Setting]) -> list[Setting]:
    """Replace old names and values by the present ones, as `present_settings` does. No two settings have one key."""
    of_model = {setting.key.partition(".")[2]: setting for setting in settings if setting.key.startswith("model.")}
    values = {name: setting.value for name, setting in of_model.items()}
    present = present_settings(values)
    if present == values:
        return settings
    others = [setting for setting in settings if not setting.key.startswith("model.")]
    place = next(setting.place for setting in of_model.values())
    places = {name: setting.place for name, setting in of_model.items()}
    return [*others, *(Setting(f"model.{name}", value, places.get(name, place)) for name, value in present.items())]
