"""Models that are traced and compiled already, for the next run of the same shape."""

from collections.abc import Callable, Hashable
from typing import TypeVar

_T = TypeVar("_T")


class ModelPool:
    """What one process keeps from run to run, so that a grid of small runs is traced and compiled once.

    A task that takes a model from the pool gives all its variables new values, see `Task.make_model`. The result of a
    run does not depend on the runs before it.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, object] = {}

    def keep(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The object that was made for a key, now or earlier."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]  # type: ignore[return-value]  # what a key stands for has always the same type
