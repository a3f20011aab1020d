"""Measuring on a machine whose speed drifts: repeated measurements, turns, and their spread."""

import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Self, TypeVar

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one quantity.

    Attributes:
        median, least, most: of the measurements, in their unit.
        repeats: number of measurements.
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
        """The spread with all values multiplied by `factor`, which must be positive."""
        return type(self)(self.median * factor, self.least * factor, self.most * factor, self.repeats)

    def __str__(self) -> str:
        return format(self)

    def __format__(self, form: str) -> str:
        """Median, least and most in a format for numbers; only the median of a single measurement."""
        form = form or ".4g"
        median = format(self.median, form)
        return median if self.repeats == 1 else f"{median} ({self.least:{form}} to {self.most:{form}})"


def calls_a_turn(seconds_a_turn: float, seconds: float, most: int = 50) -> int:
    """Number of calls in a turn, at least 1.

    Args:
        seconds_a_turn: approximate length of the turn.
        seconds: length of one call.
        most: upper limit of the result.
    """
    return min(max(1, round(seconds_a_turn / seconds)), most)


def seconds_in_turns(
    runs: Mapping[Name, Callable[[], object]], repeats: int, warmup: int = 1
) -> dict[Name, list[float]]:
    """Time several functions in turns: each once, then each again. A slow minute of the machine slows down all of them.

    Args:
        runs: the functions, by name or another key. A call must return only when its work is done.
        repeats: measurements of each function.
        warmup: calls of each function before, which are not measured.

    Returns:
        By name, the seconds of each call, in order. The n-th values of two functions were measured next to each
        other, so their ratio varies less than either of them.
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
