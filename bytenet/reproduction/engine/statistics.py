"""Intervals, differences and significance tests for verdicts."""

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

_UPPER = 0.975  # quantile at the upper end of a 95 % interval
_Key = TypeVar("_Key", bound=Hashable)
Limits = tuple[float, float]
RATE: Limits = (0.0, 1.0)
"""Limits of a rate, such as the share of wrong symbols."""


def clip(interval: tuple[float, float] | None, limits: Limits | None) -> tuple[float, float] | None:
    """The part of an interval that lies within the limits of the measured quantity."""
    if interval is None or limits is None:
        return interval
    low, high = limits
    return max(low, interval[0]), min(high, interval[1])


def student_t(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % confidence interval of the mean of `values` (Student's t). None for fewer than two values."""
    return t_interval(values, 1 / len(values)) if len(values) > 1 else None


def next_value(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % prediction interval for one more value like `values`. None for fewer than two values.

    The thesis trained most models once. That one training agrees with ours if it could be one of them.
    """
    return t_interval(values, 1 + 1 / len(values)) if len(values) > 1 else None


def difference_of_means(values: Sequence[float], others: Sequence[float]) -> tuple[float, float] | None:
    """Welch's 95 % interval of the mean of `values` minus the mean of `others`.

    Returns:
        The interval; None if one of them has fewer than two values.
    """
    if min(len(values), len(others)) < 2:
        return None
    from scipy.stats import t

    difference = statistics.fmean(values) - statistics.fmean(others)
    shares = [statistics.variance(sample) / len(sample) for sample in (values, others)]
    if not sum(shares):
        return difference, difference
    freedom = sum(shares) ** 2 / sum(
        share**2 / (len(sample) - 1) for share, sample in zip(shares, (values, others), strict=True)
    )
    half = float(t.ppf(_UPPER, freedom)) * math.sqrt(sum(shares))
    return difference - half, difference + half


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


def t_interval(values: Sequence[float], share_of_variance: float) -> tuple[float, float]:
    """95 % interval around the mean by Student's t.

    Args:
        values: at least two values.
        share_of_variance: variance that the interval covers, as a multiple of the variance of a single value.
    """
    from scipy.stats import t

    half = float(t.ppf(_UPPER, len(values) - 1)) * statistics.stdev(values) * math.sqrt(share_of_variance)
    mean = statistics.fmean(values)
    return mean - half, mean + half


def holm(probabilities: Mapping[_Key, float], level: float = 0.05) -> set[_Key]:
    """The significant ones of several tests, by Holm's step-down correction.

    Args:
        probabilities: p-value of each test.
        level: the accepted probability of one or more false positives.
    """
    significant: set[_Key] = set()
    for number, (key, probability) in enumerate(sorted(probabilities.items(), key=lambda item: item[1])):
        if probability > level / (len(probabilities) - number):
            break
        significant.add(key)
    return significant
