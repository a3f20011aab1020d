"""A comparison of a number or a statement of the thesis with our measurement."""

from dataclasses import dataclass, replace
from typing import Literal

from pydantic import with_config

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
    "the author's data",
    "counted",
    "computed",
    "measured, other hardware",
    "not possible here",
]
"""The kinds of evidence. "rescored": the author's own translations; "the author's data": numbers that he published;
"counted": the corpus itself; "computed": formulas and layers without training."""


@with_config(extra="forbid")
@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One comparison of the verdict table.

    Attributes:
        quantity: the compared quantity.
        printed: the value or statement of the thesis.
        measured: our value.
        interval: 95 % interval of `measured`: Student's t for the mean over seeds, unless the note says otherwise.
            None for a single seed.
        over_sentences: 95 % bootstrap interval of `measured` over the sentences of a single training; None if there is
            none, or for several trainings.
        seeds: number of trainings behind `measured`.
        outcome: "agrees" or "not reproduced" for a value with the thesis's settings; "same score" or "other score" for
            the author's own translations; "better", "worse" or "no difference" for settings that are not the thesis's;
            "shown" or "not shown" for a statement; "no claim" if nothing can be judged.
        note: more that the reader should know.
        contradicts: whether this contradicts the thesis. The page lists such verdicts as findings.
        qualifies: whether this changes the meaning of a result without contradicting the words of the thesis. The page
            lists such verdicts, too.
        source: place in the thesis's LaTeX, "file.tex:line". A finding needs one.
        evidence: the kind of evidence. None: the evidence of the experiment.
    """

    quantity: str
    printed: float | str
    measured: float | str
    interval: tuple[float, float] | None = None
    over_sentences: tuple[float, float] | None = None
    seeds: int = 1
    outcome: Outcome = "no claim"
    note: str = ""
    contradicts: bool = False
    qualifies: bool = False
    source: str = ""
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        if (self.contradicts or self.qualifies) and not self.source:
            raise ValueError(f"{self.quantity!r} is a finding on the thesis but names no line of it.")

    def unjudged(self, why: str) -> "Verdict":
        """The same numbers without a judgement.

        Args:
            why: the reason, such as other hardware. It comes first in the note.
        """
        note = f"{why}; {self.note}" if self.note else why
        return replace(self, outcome="no claim", contradicts=False, qualifies=False, note=note)

    def noting(self, words: str) -> "Verdict":
        """The same verdict with more words at the end of the note."""
        return replace(self, note=f"{self.note}; {words}" if self.note else words)
