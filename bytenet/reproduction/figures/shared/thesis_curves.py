"""Known values of the curves in the thesis's figures, from its text or read off its pictures."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.figures.shared.plots import number


@dataclass(frozen=True)
class Published:
    """A value of the thesis's curves.

    Attributes:
        measure: as in `Panel`.
        split: "train" or "test"; None for both.
        value: nats per sentence, a rate from 0 to 1, or BLEU from 0 to 100.
        high: upper end if the thesis has a range that starts at `value`.
        kind: which value of the curve it is.
        epoch: place of a "point".
        run: the run with this curve, as named in the data; None for all runs.
    """

    measure: str
    split: Literal["train", "test"] | None
    value: float
    high: float | None = None
    kind: Literal["end", "least", "first", "point", "beam", "baseline"] = "end"
    epoch: float | None = None
    run: str | None = None

    @property
    def text(self) -> str:
        """The value or the range in words."""
        return number(self.value) if self.high is None else f"{number(self.value)} to {number(self.high)}"

    @property
    def full_text(self) -> str:
        """The value with its kind."""
        if self.kind == "point":
            return f"thesis, by epoch {self.epoch:g}: {self.text}"
        return f"{KINDS[self.kind][0]}: {self.text}"


#: Label and style of each kind.
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "end": ("thesis, end of its curve", {"linestyle": "--"}),
    "least": ("thesis, least of its curve", {"linestyle": ":"}),
    "beam": ("thesis, beam search at its end", {"linestyle": "-."}),
    "baseline": ("thesis, an attention model", {"linestyle": (0, (6, 2, 1, 2, 1, 2))}),
    "first": ("thesis, first of its curve", {"linestyle": "", "marker": "^"}),
    "point": ("thesis, epoch of this value", {"linestyle": "", "marker": "D", "markerfacecolor": "white"}),
}


Curves = dict[str, tuple[Published, ...]]
"""Values of curves by variant of the model."""


def _read(experiment: str) -> Curves:
    curves = thesis_numbers("curves")[experiment]
    return {variant: tuple(Published(**value) for value in values) for variant, values in curves.items()}


def _with_run(curves: Curves) -> Curves:
    """The same values with the variant as the run, for experiments whose runs are named by variant."""
    return {variant: tuple(replace(value, run=variant) for value in values) for variant, values in curves.items()}


#: On Synthetic Digits, by variant, the same for all runs of the variant.
DIGITS = _read("digits")
#: Of models that learn NewsTest 2014 by heart, by variant.
MEMORISED = _with_run(_read("memorised"))
#: On Europarl, by variant.
EUROPARL = _with_run(_read("europarl"))


def published_value(values: Sequence[Published], measure: str, split: str, kind: str = "end") -> Published:
    """The value of a kind that the thesis shows of a curve.

    Raises:
        ValueError: there is no such value, or more than one.
    """
    of_curve = (value for value in values if (value.kind, value.measure) == (kind, measure))
    (shown,) = (value for value in of_curve if value.split in (None, split))
    return shown
