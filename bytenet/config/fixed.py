"""The mark of settings that a resumed run must not change, as its checkpoints would no longer fit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fixed:
    """Marks a setting as fixed for the whole run: `Annotated[type, Fixed()]`.

    Args:
        aspect: what must stay the same, computed from the value. By default, the value itself.
    """

    aspect: Callable[[Any], Any] = lambda value: value


def is_set(value: Any) -> bool:
    """Whether a setting has a value. An aspect for `Fixed`."""
    return value is not None


def is_several(value: int) -> bool:
    """Whether a number is above 1. An aspect for `Fixed`."""
    return value > 1
