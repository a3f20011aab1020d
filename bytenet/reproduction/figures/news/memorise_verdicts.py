"""Verdicts on models that learn NewsTest 2014 by heart."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal

import numpy as np

from bytenet.evaluation import smooth
from bytenet.evaluation.t_intervals import student_t
from bytenet.reproduction.engine.experiment import Scale, Table
from bytenet.reproduction.engine.judging import Printed, compare, comparison, statement
from bytenet.reproduction.engine.number_format import interval_text
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.news.memorise_runs import fewer_steps_without_normalization
from bytenet.reproduction.figures.news.widths import judged_by_width
from bytenet.reproduction.figures.shared.cells import rows_where
from bytenet.reproduction.figures.shared.curves import first_values, series, settled
from bytenet.reproduction.figures.shared.plots import shown_name
from bytenet.reproduction.figures.shared.thesis_curves import MEMORISED, published_value

CROSS_ENTROPY, BLEU = "sentence_cross_entropy", "bleu"
_ALPHA = 0.3  # weight of the newest value when curves are smoothed


def _printed(variant: str, split: str, measure: str, kind: str = "end") -> Printed:
    """The value at which the thesis's curve ends, or the range in which it does; or that of another kind."""
    published = published_value(MEMORISED[variant], measure, split, kind)
    return published.value if published.high is None else (published.value, published.high)


def epoch_of_bleu(table: Table, run: str, threshold: float, alpha: float) -> list[float]:
    """The first epoch with a smoothed training BLEU of at least `threshold`, one per seed; infinity if none has."""
    first_epochs = []
    for epochs, values in series(table, run, "train_bleu").values():
        above = np.flatnonzero(smooth(values, alpha) >= threshold)
        first_epochs.append(float(epochs[above[0]]) if len(above) else float("inf"))
    return first_epochs


def _share_of_loss_at_bleu(table: Table, threshold: float) -> list[float]:
    """ByteNet's training loss when smoothed BLEU passes `threshold`, as a share of its first value, one per seed."""
    shares = []
    losses = series(table, "bytenet", f"train_{CROSS_ENTROPY}")
    passed = epoch_of_bleu(table, "bytenet", threshold, _ALPHA)
    for (epochs, values), epoch in zip(losses.values(), passed, strict=True):
        if np.isfinite(epoch):
            smoothed = smooth(values, _ALPHA)
            shares.append(float(smoothed[np.searchsorted(epochs, epoch)] / values[0]))
    return shares


def rising_test_loss(table: Table, scale: Scale) -> list[Verdict]:
    lowest, places, ends = [], [], settled(table, "bytenet", f"test_{CROSS_ENTROPY}")
    for epochs, values in series(table, "bytenet", f"test_{CROSS_ENTROPY}").values():
        smoothed = smooth(values, _ALPHA)
        lowest.append(float(smoothed.min()))
        places.append(float(epochs[smoothed.argmin()]))
    ratios = [end / low for end, low in zip(ends, lowest, strict=True)]
    return [
        statement(
            "test cross entropy at the end, divided by its lowest",
            "rises again: least about 120 nats per sentence, about 600 at the end (5 times)",
            holds=min(ratios) > 1.5, measured=fmean(ratios), values=ratios,
            note=f"lowest: {fmean(lowest):.0f} nats at epoch {fmean(places):.0f}, {fmean(ends):.0f} at the end; "
            "the test: more than 1.5 in each training",
        )
    ]  # fmt: skip


def learns_by_heart(table: Table, scale: Scale) -> list[Verdict]:
    train_bleu = settled(table, "bytenet", "train_bleu")
    test_bleu = settled(table, "bytenet", "test_bleu")
    loss = settled(table, "bytenet", f"train_{CROSS_ENTROPY}")
    printed_loss = _printed("bytenet", "train", CROSS_ENTROPY)
    begins, middle = (_share_of_loss_at_bleu(table, threshold) for threshold in (5, 50))
    return [
        _at_size(scale, compare("train BLEU", _printed("bytenet", "train", BLEU), train_bleu, tolerance=3)),
        _at_size(scale, compare("test BLEU", _printed("bytenet", "test", BLEU), test_bleu, tolerance=1)),
        _at_size(scale, compare("train cross entropy, nats per sentence", printed_loss, loss, tolerance=3)),
        statement(
            "train cross entropy, as a share of the first, when train BLEU passes 5",
            "BLEU begins to rise only when the cross entropy nears 0",
            holds=bool(begins) and max(begins) < 0.15,
            measured=fmean(begins) if begins else "BLEU never passes 5", values=begins,
            note="the test: less than .15 in each training whose BLEU passes 5"
            + (f"; {fmean(middle):.3f} when it passes 50" if middle else ""),
            source="result-bytenet.tex:100",
        ),
        *rising_test_loss(table, scale),
    ]  # fmt: skip


_SMALLER = "fewer pairs, a narrower model, fewer steps"


def _at_size(scale: Scale, verdict: Verdict) -> Verdict:
    """The verdict on a value; no claim for smaller trainings, and for a single one."""
    if scale != "thesis":
        return verdict.unjudged(_SMALLER)
    return verdict.unjudged("one training") if verdict.seeds == 1 else verdict


def against_bytenet(variant: str, printed: str, claim: Literal["lower", "higher"], source: str):
    """Makes verdicts on the training BLEU of a variant: its end, and when it passes 50 compared with ByteNet.

    Args:
        variant: the variant.
        printed: the statement of the thesis on when it passes 50.
        claim: whether it passes 50 sooner ("lower") or later ("higher") than ByteNet.
        source: place in the thesis's LaTeX.
    """

    def verdicts(
        table: Table, scale: Scale, beside: Mapping[str, Table], settings: Sequence[str] | None = None
    ) -> list[Verdict]:
        ends = settled(table, variant, "train_bleu")
        passes = _when_bleu_passes_50(table, variant, printed, claim, scale == "thesis", source)
        if variant == "simplified":
            passes = judged_by_width(passes, settings, "memorise-simplified", "memorise-bytenet")
        return [
            _at_size(scale, compare(f"train BLEU of {variant}", _printed(variant, "train", BLEU), ends, tolerance=5)),
            about_bytenet(passes, table, beside),
        ]

    return verdicts


def _when_bleu_passes_50(
    table: Table, variant: str, printed: str, claim: Literal["lower", "higher"], contradicts: bool, source: str
) -> Verdict:
    own, other = (epoch_of_bleu(table, run, 50, _ALPHA) for run in (variant, "bytenet"))
    when = [f"{_epochs(own)} for {shown_name(variant)}", f"{_epochs(other)} for {shown_name('bytenet')}"]
    # A ByteNet that never passes 50 would do so after its training at the earliest.
    ends = [float(epochs[-1]) for epochs, _ in series(table, "bytenet", "train_bleu").values()]
    differences = np.subtract(own, np.minimum(other, ends)).tolist()
    learns = bool(np.isfinite(own).all())
    interval = interval_text(student_t(differences)) if learns else ""
    return comparison(
        f"train BLEU passes 50: {variant}, ByteNet", printed, differences if learns else [0.0] * len(own), claim,
        measured=" and ".join(when), contradicts=contradicts, source=source,
        note=f"the difference in epochs: {interval}, 95 %" if interval else "",
    )  # fmt: skip


def _epochs(values: Sequence[float]) -> str:
    """The mean epoch of those trainings that have one."""
    finite = [value for value in values if np.isfinite(value)]
    if not finite:
        return "never"
    part = "" if len(finite) == len(values) else f" ({len(finite)} of {len(values)} trainings)"
    return f"epoch {fmean(finite):.0f}{part}"


def about_bytenet(verdict: Verdict, table: Table, beside: Mapping[str, Table]) -> Verdict:
    """The verdict with a note if this data has another training of ByteNet than figure 3.3.2."""
    other = rows_where(beside.get(BYTENET_FIGURE, ()), seed=1)
    own = rows_where(table, run="bytenet", seed=1)
    if not other or own == other:
        return verdict
    return verdict.noting("this is another training of ByteNet than figure 3.3.2's")


BYTENET_FIGURE = "fig-3.3.2"
"""The experiment that shows ByteNet alone."""


def selu_against_bytenet(printed: str, claim: Literal["lower", "higher"], source: str):
    """As `against_bytenet` for SELU, with the cross entropy before the first step."""
    judge = against_bytenet("selu", printed, claim, source)

    def verdicts(table: Table, scale: Scale, beside: Mapping[str, Table]) -> list[Verdict]:
        end, passes = judge(table, scale, beside)
        # A short training says nothing about SELU.
        at_end = [end, passes if scale == "thesis" else passes.unjudged(_SMALLER)]
        first = first_values(table, "selu", f"train_{CROSS_ENTROPY}")
        if not first:
            return at_end
        quantity = "first train cross entropy of SELU, nats per sentence"
        # From one to the other of the two first points in the thesis's figure.
        verdict = compare(quantity, _printed("selu", "train", CROSS_ENTROPY, "first"), first, tolerance=8000)
        if scale != "thesis":
            verdict = verdict.unjudged("a narrower model and shorter sentences begin lower")
        return [*at_end, verdict]

    return verdicts


def without_normalization(table: Table, scale: Scale, beside: Mapping[str, Table]) -> list[Verdict]:
    """Verdicts on ByteNet without normalisation. Fewer steps than the thesis's do not show a "never"."""
    ends = {run: settled(table, run, "train_bleu") for run in ("no_norm", "bytenet")}
    gaps = [with_norm - without for with_norm, without in zip(ends["bytenet"], ends["no_norm"], strict=True)]
    loss = settled(table, "no_norm", f"train_{CROSS_ENTROPY}")
    never = comparison(
        "train BLEU of ByteNet minus that without normalisation, at the end",
        "never completely memorizes the training dataset", gaps, "higher", contradicts=True,
        source="result-selu-bytenet.tex:14",
    )  # fmt: skip
    if scale != "thesis":
        never = never.unjudged(fewer_steps_without_normalization(scale))
    return [
        _at_size(
            scale,
            compare(
                "train BLEU without normalisation", _printed("no_norm", "train", BLEU), ends["no_norm"], tolerance=2
            ),
        ),
        about_bytenet(never, table, beside),
        _at_size(
            scale,
            compare(
                "train cross entropy without normalisation, nats per sentence",
                _printed("no_norm", "train", CROSS_ENTROPY), loss, tolerance=1.5,
            ),
        ),
    ]  # fmt: skip
