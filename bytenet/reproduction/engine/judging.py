"""Ways to judge a number or a statement of the thesis by our measurement."""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from bytenet.evaluation.t_intervals import FEWEST_TO_COMPARE, difference_of_means, next_value, student_t
from bytenet.reproduction.engine.number_format import interval_text
from bytenet.reproduction.engine.statistics import Limits, clip
from bytenet.reproduction.engine.verdict import Evidence, Outcome, Verdict

FEWEST_FOR_SPREAD = 5
"""With fewer trainings it is too uncertain where one more training could lie."""


Printed = float | tuple[float, float]
"""A value of the thesis, or the two ends of a range that was read off a figure."""


def _ends(printed: Printed) -> tuple[float, float]:
    return printed if isinstance(printed, tuple) else (printed, printed)


def _shown(printed: Printed) -> float | str:
    return interval_text(printed) if isinstance(printed, tuple) else printed


def compare(
    quantity: str,
    printed: Printed,
    values: Sequence[float],
    tolerance: float = 0.0,
    limits: Limits | None = None,
    lower_is_better: bool | None = None,
    note: str = "",
) -> Verdict:
    """Compare the thesis's single value with the values of our trainings.

    The value agrees if it is within `tolerance` of our mean. With at least `FEWEST_FOR_SPREAD` trainings it also agrees
    if it could be one more training of ours (95 %). With fewer trainings, a value that does not agree gives "no claim",
    and so does any value with `lower_is_better`.

    Args:
        quantity: the compared quantity.
        printed: the value of the thesis, or a range. A range agrees if any value in it does.
        values: our values, one for each seed.
        tolerance: the precision of the thesis's value.
        limits: smallest and largest possible value. Intervals end there.
        lower_is_better: for settings that are not the thesis's: whether a lower value is an improvement. None: the
            settings are the thesis's.
        note: note of the verdict.
    """
    mean = statistics.fmean(values)
    has_spread = len(values) >= FEWEST_FOR_SPREAD
    interval = clip(next_value(values), limits) if has_spread else None
    low, high = interval or (mean, mean)
    lowest, highest = _ends(printed)
    agrees = min(low, mean - tolerance) <= highest and lowest <= max(high, mean + tolerance)
    outcome: Outcome = "no claim"
    if lower_is_better is None and agrees:
        outcome = "agrees"
    elif lower_is_better is None and has_spread:
        outcome = "not reproduced"
    elif has_spread:
        outcome = "no difference" if agrees else "better" if (mean < lowest) == lower_is_better else "worse"
    return Verdict(
        quantity=quantity, printed=_shown(printed), measured=mean, interval=clip(student_t(values), limits),
        seeds=len(values), outcome=outcome, note=note,
    )  # fmt: skip


def compare_exact(
    quantity: str,
    printed: Printed,
    value: float,
    tolerance: float = 0.0,
    evidence: Evidence | None = None,
    note: str = "",
    contradicts: bool = False,
    source: str = "",
) -> Verdict:
    """Compare the thesis's value with a value of ours that no training makes: counted, computed, timed or rescored.

    Args:
        quantity: the compared quantity.
        printed: the value of the thesis, or a range.
        value: our value.
        tolerance: the precision of the thesis's value, or the accepted distance.
        evidence: evidence of the verdict. "rescored" changes the words of the outcome.
        note: note of the verdict.
        contradicts: whether the verdict contradicts the thesis.
        source: place in the thesis's LaTeX.
    """
    lowest, highest = _ends(printed)
    agrees = value - tolerance <= highest and lowest <= value + tolerance
    outcomes: tuple[Outcome, Outcome] = ("not reproduced", "agrees")
    if evidence == "rescored":
        outcomes = ("other score", "same score")
    return Verdict(
        quantity=quantity, printed=_shown(printed), measured=value, outcome=outcomes[agrees], note=note,
        contradicts=contradicts, source=source, evidence=evidence,
    )  # fmt: skip


def mean_of(
    quantity: str,
    values: Sequence[float],
    printed: float | str = "not tried",
    limits: Limits | None = None,
    note: str = "",
    over_sentences: tuple[float, float] | None = None,
) -> Verdict:
    """The mean of our trainings, without a judgement.

    Args:
        quantity: the quantity.
        values: our values, one for each seed.
        printed: the value or statement of the thesis.
        limits: smallest and largest possible value. The interval ends there.
        note: note of the verdict.
        over_sentences: interval over the sentences of a single training.
    """
    return Verdict(
        quantity=quantity, printed=printed, measured=statistics.fmean(values), interval=clip(student_t(values), limits),
        over_sentences=over_sentences, seeds=len(values), note=note,
    )  # fmt: skip


def statement(
    quantity: str,
    printed: str,
    holds: bool,
    measured: float | str,
    values: Sequence[float] = (),
    limits: Limits | None = None,
    seeds: int | None = None,
    note: str = "",
    contradicts: bool = False,
    source: str = "",
) -> Verdict:
    """Judge a statement of the thesis.

    Args:
        quantity: the quantity that decides it.
        printed: the statement.
        holds: whether our data show it.
        measured: our value, as a number or in words.
        values: our value for each seed, for the interval.
        limits: smallest and largest possible value. The interval ends there.
        seeds: number of seeds. None: the number of `values`.
        note: note of the verdict.
        contradicts: whether the verdict contradicts the thesis.
        source: place in the thesis's LaTeX.
    """
    return Verdict(
        quantity=quantity, printed=printed, measured=measured, interval=clip(student_t(values), limits),
        seeds=seeds or max(1, len(values)), outcome="shown" if holds else "not shown", note=note,
        contradicts=contradicts, source=source,
    )  # fmt: skip


def difference(
    quantity: str,
    printed: str,
    values: Sequence[float],
    others: Sequence[float],
    claim: Literal["lower", "higher", "similar"],
    source: str = "",
) -> Verdict:
    """Judge a statement on two sets of trainings, A and B, by Welch's interval of the difference of their means.

    Args:
        quantity: the compared quantity, "A minus B".
        printed: the statement.
        values: the values of A, one for each seed.
        others: the values of B.
        claim: what the statement says of A. "lower" and "higher" are shown only if the whole interval agrees.
            "similar" is not shown if 0 lies outside the interval. Otherwise there is no claim, because no difference
            was found. With fewer than `FEWEST_TO_COMPARE` trainings of each, there is no claim either.
        source: place in the thesis's LaTeX.
    """
    interval = difference_of_means(values, others)
    outcome: Outcome = "no claim"
    if interval is not None and min(len(values), len(others)) >= FEWEST_TO_COMPARE:
        low, high = interval
        if claim == "similar":
            outcome = "not shown" if low > 0 or high < 0 else "no claim"
        else:
            outcome = "shown" if (high < 0 if claim == "lower" else low > 0) else "not shown"
    means = f"{statistics.fmean(values):.3f} and {statistics.fmean(others):.3f}, Welch's interval"
    return Verdict(
        quantity=quantity, printed=printed, measured=statistics.fmean(values) - statistics.fmean(others),
        interval=interval, seeds=min(len(values), len(others)), outcome=outcome,
        note=means, source=source,
    )  # fmt: skip


def comparison(
    quantity: str,
    printed: str,
    differences: Sequence[float],
    claim: Literal["lower", "higher"],
    measured: float | str | None = None,
    note: str = "",
    contradicts: bool = False,
    source: str = "",
) -> Verdict:
    """Judge a statement on two models, A and B, by the differences of trainings with the same seed.

    With fewer than `FEWEST_TO_COMPARE` trainings of each there is no claim. Otherwise the statement is shown only if
    the whole 95 % interval of the mean difference agrees.

    Args:
        quantity: the compared quantity, "A minus B".
        printed: the statement.
        differences: A minus B, one for each seed.
        claim: what the statement says of A.
        measured: our value in words. None: the mean difference. The interval then stands in the note.
        note: note of the verdict.
        contradicts: whether an interval that wholly says the opposite contradicts the thesis.
        source: place in the thesis's LaTeX.
    """
    interval = student_t(differences)
    verdict = Verdict(
        quantity=quantity, printed=printed, measured=statistics.fmean(differences) if measured is None else measured,
        interval=interval if measured is None else None, seeds=len(differences), note=note, source=source,
    )  # fmt: skip
    if interval is None or len(differences) < FEWEST_TO_COMPARE:
        number = "one training" if len(differences) == 1 else f"{len(differences)} trainings"
        return verdict.unjudged(f"{number} of each model, and a comparison needs at least {FEWEST_TO_COMPARE}")
    low, high = interval if claim == "higher" else (-interval[1], -interval[0])
    return replace(verdict, outcome="shown" if low > 0 else "not shown", contradicts=contradicts and high < 0)
