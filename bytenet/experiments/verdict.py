"""What the thesis printed beside what was measured."""

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

_UPPER = 0.975  # quantile at the upper end of a 95 % interval
_Key = TypeVar("_Key", bound=Hashable)

Outcome = Literal["agrees", "better", "worse", "differs", "shown", "not shown", "no claim"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One comparison of the verdict table.

    Attributes:
        quantity: what is compared.
        printed: the thesis's value or statement.
        measured: ours.
        interval: 95 % interval of `measured`, Student's t of the mean over seeds unless the note says otherwise; None
            for a single seed.
        seeds: number of trainings behind `measured`.
        outcome: "agrees", "better", "worse" for values; "shown", "not shown" for statements; "differs" where
            neither is better; "no claim" where the thesis printed nothing to compare with.
        note: what else the reader should know.
        contradicts: whether this contradicts what the thesis says; such ones are listed as findings.
    """

    quantity: str
    printed: float | str
    measured: float | str
    interval: tuple[float, float] | None = None
    seeds: int = 1
    outcome: Outcome = "no claim"
    note: str = ""
    contradicts: bool = False


def student_t(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % confidence interval of the mean of `values`; None for fewer than two."""
    return _interval(values, 1 / len(values)) if len(values) > 1 else None


def next_value(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval for one more draw from where `values` (at least two, else None) come from.

    The thesis trained most models once; that one run agrees with ours if it could be one of them.
    """
    return _interval(values, 1 + 1 / len(values)) if len(values) > 1 else None


def difference_of_means(values: Sequence[float], others: Sequence[float]) -> tuple[float, float] | None:
    """Welch's 95 % interval of the mean of `values` minus that of `others`; None where one has fewer than two."""
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


def by_trial(table: Sequence[Mapping[str, float | int | str]], column: str, **where: float | str) -> dict[int, float]:
    """The values of a column by `trial`, in the rows whose other columns are as said; empty ones are left out."""
    return {
        row["trial"]: float(row[column])
        for row in table
        if row[column] != "" and all(row[name] == value for name, value in where.items())
    }


def paired(values: Mapping[_Key, float], others: Mapping[_Key, float]) -> dict[_Key, tuple[float, float]]:
    """Value and other of each key, such as a trial, that both have."""
    return {key: (value, others[key]) for key, value in values.items() if key in others}


def paired_differences(values: Mapping[_Key, float], others: Mapping[_Key, float]) -> list[float]:
    """Value minus other of each key that both have."""
    return [value - other for value, other in paired(values, others).values()]


def _interval(values: Sequence[float], share_of_variance: float) -> tuple[float, float]:
    from scipy.stats import t

    half = float(t.ppf(_UPPER, len(values) - 1)) * statistics.stdev(values) * math.sqrt(share_of_variance)
    mean = statistics.fmean(values)
    return mean - half, mean + half


def compare(
    quantity: str,
    printed: float,
    values: Sequence[float],
    lower_is_better: bool | None = None,
    tolerance: float = 0.0,
    note: str = "",
    contradicts: bool = False,
    limits: tuple[float, float] | None = None,
) -> Verdict:
    """Compare the thesis's single value with ours over seeds.

    Args:
        quantity: what it is.
        printed: the thesis's.
        values: ours, one a seed.
        lower_is_better: which difference is an improvement; None where neither is.
        tolerance: also agree within this distance of the mean, for what was read off a plot or has one seed.
        note, contradicts: of the verdict.
    """
    mean = statistics.fmean(values)
    low, high = next_value(values) or (mean, mean)
    if min(low, mean - tolerance) <= printed <= max(high, mean + tolerance):
        outcome: Outcome = "agrees"
    elif lower_is_better is None:
        outcome = "differs"
    else:
        outcome = "better" if (mean < printed) == lower_is_better else "worse"
    return Verdict(
        quantity=quantity, printed=printed, measured=mean, interval=student_t(values), seeds=len(values),
        outcome=outcome, note=note, contradicts=contradicts,
    )  # fmt: skip


def statement(
    quantity: str,
    printed: str,
    holds: bool,
    measured: float | str,
    values: Sequence[float] = (),
    seeds: int | None = None,
    note: str = "",
    contradicts: bool = False,
) -> Verdict:
    """Judge a statement of the thesis: whether the effect shows in our data.

    Args:
        quantity: what it is about.
        printed: the statement.
        holds: whether it shows.
        measured: the number or words that decide it.
        values: the number of each seed, for the interval.
        seeds: how many there are, where they have no number each; None is one for each of `values`.
        note, contradicts: of the verdict.
    """
    return Verdict(
        quantity=quantity, printed=printed, measured=measured, interval=student_t(values),
        seeds=seeds or max(1, len(values)), outcome="shown" if holds else "not shown", note=note,
        contradicts=contradicts,
    )  # fmt: skip
