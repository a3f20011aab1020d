"""What is known of the curves of the thesis's figures: what its text says, and what can be read off its pictures."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from bytenet.reproduction.figures.shared.plots import number


@dataclass(frozen=True)
class Published:
    """A value of the thesis's curves.

    Attributes:
        measure: as of a `Panel`.
        split: "train" or "test"; None for both.
        value: nats a sentence, a rate from 0 to 1, or BLEU from 0 to 100.
        high: the upper end where the thesis has a range that starts at `value`.
        kind: what it is of the curve.
        epoch: where it is, of a "point".
        run: whose curve it belongs to, as in the data; None for all runs.
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
        """The same with what it is."""
        if self.kind == "point":
            return f"thesis, by epoch {self.epoch:g}: {self.text}"
        return f"{KINDS[self.kind][0]}: {self.text}"


#: By kind, what a legend calls it and how it is drawn.
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "end": ("thesis, end of its curve", {"linestyle": "--"}),
    "least": ("thesis, least of its curve", {"linestyle": ":"}),
    "beam": ("thesis, beam search at its end", {"linestyle": "-."}),
    "baseline": ("thesis, an attention model", {"linestyle": (0, (6, 2, 1, 2, 1, 2))}),
    "first": ("thesis, first of its curve", {"linestyle": "", "marker": "^"}),
    "point": ("thesis, epoch of this value", {"linestyle": "", "marker": "D", "markerfacecolor": "white"}),
}


_LOSS, _BLEU, _ERROR = "sentence_cross_entropy", "bleu", "misclassification"


def _of(run: str, *values: Published) -> tuple[Published, ...]:
    return tuple(replace(value, run=run) for value in values)


#: On Synthetic Digits, by variant.
DIGITS = {
    "bytenet": (
        Published(_ERROR, "test", 0.30),
        Published(_ERROR, "train", 0.01),
        Published(_ERROR, None, 0.51, kind="baseline"),
        Published(_LOSS, "test", 7.6),
    ),
    "simplified": (Published(_ERROR, "test", 0.23),),
    "selu": (Published(_ERROR, "test", 0.39), Published(_LOSS, "test", 103, kind="first")),
}

#: Of models that learn NewsTest 2014 by heart, by variant.
MEMORISED = {
    "bytenet": _of(
        "bytenet",
        Published(_BLEU, "train", 100),
        Published(_BLEU, "test", 0),
        Published(_LOSS, "train", 0),
        Published(_LOSS, "test", 600),
        Published(_LOSS, "test", 120, kind="least"),
    ),
    "no_norm": _of("no_norm", Published(_BLEU, "train", 77, high=82), Published(_LOSS, "train", 1.5)),
    "selu": _of(
        "selu",
        Published(_BLEU, "train", 100),
        Published(_BLEU, "train", 100, kind="point", epoch=130),
        Published(_LOSS, None, 75_000, high=89_000, kind="first"),
    ),
    "simplified": _of(
        "simplified", Published(_BLEU, "train", 100), Published(_BLEU, "train", 100, kind="point", epoch=60)
    ),
}

#: On Europarl, by variant.
EUROPARL = {
    "bytenet": _of(
        "bytenet",
        Published(_BLEU, "train", 25),
        Published(_BLEU, "test", 5.1),
        Published(_BLEU, "test", 7.44, kind="beam"),
        Published(_LOSS, "train", 59),
        Published(_LOSS, "test", 136),
    ),
    "simplified": _of(
        "simplified",
        Published(_BLEU, "train", 17.5),
        Published(_BLEU, "test", 2.7),
        Published(_BLEU, "test", 0.55, kind="beam"),
        Published(_LOSS, "train", 78),
        Published(_LOSS, "test", 337),
    ),
    "selu": _of("selu", Published(_BLEU, "train", 5.7), Published(_BLEU, "test", 0.4)),
}
