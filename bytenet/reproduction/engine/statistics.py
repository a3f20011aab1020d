"""Limits of intervals, differences of trainings with the same seed, and significance tests for verdicts."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
Limits = tuple[float, float]
RATE: Limits = (0.0, 1.0)
"""Limits of a rate, such as the share of wrong symbols."""
RATE_DIFFERENCE: Limits = (-1.0, 1.0)
"""Limits of a difference of two rates."""
SCORE: Limits = (0.0, 100.0)
"""Limits of BLEU and chrF."""


def clip(interval: tuple[float, float] | None, limits: Limits | None) -> tuple[float, float] | None:
    """The part of an interval that lies within the limits of the measured quantity.

    Raises:
        ValueError: no part of it does, so the limits are those of another quantity.
    """
    if interval is None or limits is None:
        return interval
    low, high = max(limits[0], interval[0]), min(limits[1], interval[1])
    if low > high:
        raise ValueError(f"The interval {interval} lies outside the limits {limits}.")
    return low, high


def by_trial(table: Sequence[Mapping[str, Any]], column: str, **where: float | str) -> dict[int, float]:
    """The values of a column by trial. Empty cells are left out.

    Args:
        table: rows with a column `trial`.
        column: the column.
        where: values of other columns. Only rows with these values count.
    """
    return {
        row["trial"]: float(row[column])
        for row in table
        if row[column] != "" and all(row[name] == value for name, value in where.items())
    }


def paired(values: Mapping[_Key, float], others: Mapping[_Key, float]) -> dict[_Key, tuple[float, float]]:
    """The pairs of values for each key, such as a trial, that both have."""
    return {key: (value, others[key]) for key, value in values.items() if key in others}


def paired_differences(values: Mapping[_Key, float], others: Mapping[_Key, float]) -> list[float]:
    """Value minus other value, for each key that both have."""
    return [value - other for value, other in paired(values, others).values()]


def holm(p_values: Mapping[_Key, float], level: float = 0.05) -> set[_Key]:
    """The significant ones of several tests, by Holm's step-down correction.

    Args:
        p_values: the p-value of each test.
        level: the accepted probability of one or more false positives.
    """
    significant: set[_Key] = set()
    for number, (key, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        if p_value > level / (len(p_values) - number):
            break
        significant.add(key)
    return significant
