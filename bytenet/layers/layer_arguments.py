"""The arguments that every Keras layer has."""

from typing import Any


def pop_layer_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Remove `name`, `dtype` and `trainable` from the arguments of a layer, and return those that were there."""
    return {name: arguments.pop(name) for name in ("name", "dtype", "trainable") if name in arguments}
