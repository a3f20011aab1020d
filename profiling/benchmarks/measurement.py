"""Measuring on a machine whose speed drifts: taking turns, repeating, telling the spread."""

import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeVar

from bytenet.errors import InputError

if TYPE_CHECKING:
    from bytenet.config import Config

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Spread:
    """What repeated measurements of one thing gave, in the unit they were made in.

    Attributes:
        median, least, most: of the measurements.
        repeats: their number.
    """

    median: float
    least: float
    most: float
    repeats: int

    @classmethod
    def of(cls, values: list[float]) -> Self:
        """The spread of at least one value."""
        return cls(statistics.median(values), min(values), max(values), len(values))

    def scaled(self, factor: float) -> Self:
        """The spread in a unit of which one old unit has `factor`; factor > 0."""
        return type(self)(self.median * factor, self.least * factor, self.most * factor, self.repeats)

    def __str__(self) -> str:
        return format(self)

    def __format__(self, form: str) -> str:
        """Median, least and most in a number's format; the median alone where nothing was repeated."""
        form = form or ".4g"
        median = format(self.median, form)
        return median if self.repeats == 1 else f"{median} ({self.least:{form}} to {self.most:{form}})"


def refuse_semi_supervised(config: "Config") -> None:
    """Raise an InputError for a run of two translators, whose steps are others than those of its model alone."""
    if config.semi_supervised.enabled:
        raise InputError(
            "What is measured here are supervised steps, but semi_supervised.enabled is true. Those of its translators "
            "by themselves: --set semi_supervised.enabled=false. The times of both with monolingual text: "
            "bytenet benchmark semi-supervised."
        )


def calls_a_turn(seconds_a_turn: float, seconds: float, most: int = 50) -> int:
    """How many calls of something make a turn of about so long: at least one.

    Args:
        seconds_a_turn: what a turn is to take.
        seconds: what one call takes.
        most: calls a turn.
    """
    return min(max(1, round(seconds_a_turn / seconds)), most)


def seconds_in_turns(
    runs: Mapping[Name, Callable[[], object]], repeats: int, warmup: int = 1
) -> dict[Name, list[float]]:
    """Time several things, each in its turn and then all over again, so that a slow minute slows all of them.

    Args:
        runs: what to time, by name or whatever tells them apart; each call has to come back only when its work is done.
        repeats: measurements of each.
        warmup: calls of each beforehand that are not counted.

    Returns:
        By name, the seconds of each call, in order: the n-th values of two names were measured next to each
        other, so their ratio is steadier than either.
    """
    for run in runs.values():
        for _ in range(warmup):
            run()
    seconds: dict[Name, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - began)
    return seconds
