"""Settings that a resumed run must not change, as its checkpoints would no longer fit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from bytenet.config.config import Config

# Every setting of these sections decides about the variables of the model, or about the order of the batches.
_FIXED_SECTIONS = ("model", "data")


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


def forbidden_changes(saved: "Config", asked: "Config") -> list[tuple[str, Any, Any]]:
    """The changes with which a run cannot be resumed.

    Args:
        saved: configuration of the run.
        asked: configuration to resume it with.

    Returns:
        The dotted key of each setting, its saved value, and the value that was asked for.
    """
    aspects = _fixed_aspects(saved)
    return [
        (key, before, after)
        for key, before, after in saved.differences(asked)
        if key.partition(".")[0] in _FIXED_SECTIONS or (key in aspects and aspects[key](before) != aspects[key](after))
    ]


def _fixed_aspects(config: "Config") -> dict[str, Callable[[Any], Any]]:
    """For each marked setting, what of its value is fixed."""
    return {
        f"{section}.{name}": mark.aspect
        for section, settings in vars(config).items()
        for name, hint in get_type_hints(type(settings), include_extras=True).items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Fixed)
    }
