"""What the thesis printed beside what was measured."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bytenet.reproduction.engine.statistics import Limits, clip, difference_of_means, next_value, student_t

Outcome = Literal[
    "agrees",
    "not reproduced",
    "same score",
    "other score",
    "better",
    "worse",
    "no difference",
    "shown",
    "not shown",
    "no claim",
]
Evidence = Literal[
    "trained, same size",
    "trained, smaller",
    "trained, beyond the thesis",
    "rescored",
    "counted",
    "computed",
    "measured, other hardware",
    "not possible here",
]
"""What a result rests on. "rescored": the author's own translations; "counted": the corpus itself; "computed":
formulas and layers without training."""
FEWEST_FOR_SPREAD = 5
"""Fewer trainings than these say too little about where one more could lie."""


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
        outcome: "agrees" or "not reproduced" for a value that was to come out again; "same score" or "other score"
            where the author's own translations were scored; "better", "worse" or "no difference" for settings of ours
            that are not the thesis's; "shown" or "not shown" for a statement; "no claim" where nothing can be judged.
        note: what else the reader should know.
        contradicts: whether this contradicts what the thesis says. The page lists such verdicts as findings.
        qualifies: whether this puts a result of the thesis in another light without contradicting its words. The page
            lists such verdicts, too.
        source: where the thesis says it, "file.tex:line" of its LaTeX; a finding needs one.
        evidence: what it rests on, where that is not the experiment's own evidence.
    """

    quantity: str
    printed: float | str
    measured: float | str
    interval: tuple[float, float] | None = None
    seeds: int = 1
    outcome: Outcome = "no claim"
    note: str = ""
    contradicts: bool = False
    qualifies: bool = False
    source: str = ""
    evidence: Evidence | None = None

    def __post_init__(self):
        if (self.contradicts or self.qualifies) and not self.source:
            raise ValueError(f"{self.quantity!r} is a finding on the thesis but names no line of it.")

    def unjudged(self, why: str) -> "Verdict":
        """The same numbers without a judgement, because of other hardware or another size."""
        note = f"{why}; {self.note}" if self.note else why
        return replace(self, outcome="no claim", contradicts=False, note=note)


def compare(
    quantity: str,
    printed: float,
    values: Sequence[float],
    tolerance: float = 0.0,
    limits: Limits | None = None,
    lower_is_better: bool | None = None,
    evidence: Evidence | None = None,
    note: str = "",
    contradicts: bool = False,
    source: str = "",
) -> Verdict:
    """Compare the thesis's single value with ours over seeds.

    The value agrees if it is within `tolerance` of our mean. With at least `FEWEST_FOR_SPREAD` seeds it also agrees if
    it could be one more training of ours (95 %). With two seeds or more, but fewer than that, nothing else is claimed.

    Args:
        quantity: what it is.
        printed: the thesis's.
        values: ours, one a seed.
        tolerance: how exactly the thesis's value can be read, or how near a single training should come.
        limits: of the values; intervals are cut there.
        lower_is_better: for settings that are not the thesis's, which difference is an improvement; None where the
            value was to come out again.
        evidence: where it is not the experiment's; "rescored" changes the words of the outcome.
        note, contradicts, source: of the verdict.
    """
    mean = statistics.fmean(values)
    has_spread = len(values) >= FEWEST_FOR_SPREAD
    low, high = clip(next_value(values), limits) if has_spread else (mean, mean)
    agrees = min(low, mean - tolerance) <= printed <= max(high, mean + tolerance)
    if evidence == "rescored":
        outcome: Outcome = "same score" if agrees else "other score"
    elif lower_is_better is not None:
        outcome = "no difference" if agrees else "better" if (mean < printed) == lower_is_better else "worse"
    elif agrees:
        outcome = "agrees"
    else:
        outcome = "not reproduced" if has_spread or len(values) == 1 else "no claim"
    return Verdict(
        quantity=quantity, printed=printed, measured=mean, interval=clip(student_t(values), limits),
        seeds=len(values), outcome=outcome, note=note, contradicts=contradicts, source=source, evidence=evidence,
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
    """Judge a statement of the thesis: whether the effect shows in our data.

    Args:
        quantity: what it is about.
        printed: the statement.
        holds: whether it shows.
        measured: the number or words that decide it.
        values: the number of each seed, for the interval.
        limits: of the values; the interval is cut there.
        seeds: how many there are, where they have no number each; None is one for each of `values`.
        note, contradicts, source: of the verdict.
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
    note: str = "",
    source: str = "",
) -> Verdict:
    """Judge a statement on two sets of trainings by Welch's interval of the difference of their means.

    Args:
        quantity: what is compared, "A minus B".
        printed: the statement.
        values: of A, one a seed.
        others: of B.
        claim: what the statement says of A. "lower" and "higher" are shown only if the whole interval says so.
            "similar" is not shown if the interval leaves out 0; else nothing is claimed, as no difference was found.
        note, source: of the verdict; the note begins with both means.
    """
    interval = difference_of_means(values, others)
    outcome: Outcome = "no claim"
    if interval is not None:
        low, high = interval
        if claim == "similar":
            outcome = "not shown" if low > 0 or high < 0 else "no claim"
        else:
            outcome = "shown" if (high < 0 if claim == "lower" else low > 0) else "not shown"
    means = f"{statistics.fmean(values):.3f} and {statistics.fmean(others):.3f}, Welch's interval"
    return Verdict(
        quantity=quantity, printed=printed, measured=statistics.fmean(values) - statistics.fmean(others),
        interval=interval, seeds=min(len(values), len(others)), outcome=outcome,
        note=f"{means}; {note}" if note else means, source=source,
    )  # fmt: skip
