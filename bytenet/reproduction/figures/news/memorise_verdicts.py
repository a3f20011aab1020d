"""Verdicts on models that learn NewsTest 2014 by heart."""

from collections.abc import Callable
from statistics import fmean

import numpy as np

from bytenet.evaluation import smooth
from bytenet.reproduction.engine.experiment import Scale, Table
from bytenet.reproduction.engine.verdict import Verdict, compare, statement
from bytenet.reproduction.figures.shared.curves import first_values, series, settled
from bytenet.reproduction.figures.shared.thesis_curves import MEMORISED, published_value

CROSS_ENTROPY, BLEU = "sentence_cross_entropy", "bleu"


# The thesis's curve without normalisation ends between 77 and 82.
_BLEU_WITHOUT_NORMALIZATION = 80


def _printed(variant: str, split: str, measure: str) -> float:
    """The value at which the thesis's curve ends."""
    return published_value(MEMORISED[variant], measure, split).value


def epoch_of_bleu(table: Table, run: str, threshold: float, alpha: float, column: str = "train_bleu") -> list[float]:
    """The first epoch with a smoothed BLEU of at least `threshold`, one per seed; infinity if there is none."""
    first_epochs = []
    for epochs, values in series(table, run, column).values():
        above = np.flatnonzero(smooth(values, alpha) >= threshold)
        first_epochs.append(float(epochs[above[0]]) if len(above) else float("inf"))
    return first_epochs


def _share_of_loss_at_bleu(table: Table, run: str, threshold: float, alpha: float) -> list[float]:
    """Training cross entropy when the smoothed BLEU passes `threshold`, as a share of its first value, one per seed."""
    shares = []
    losses = series(table, run, f"train_{CROSS_ENTROPY}")
    for (epochs, values), epoch in zip(losses.values(), epoch_of_bleu(table, run, threshold, alpha), strict=True):
        if np.isfinite(epoch):
            smoothed = smooth(values, alpha)
            shares.append(float(smoothed[np.searchsorted(epochs, epoch)] / values[0]))
    return shares


def rising_test_loss(table: Table, scale: Scale) -> list[Verdict]:
    lowest, places, ends = [], [], settled(table, "bytenet", f"test_{CROSS_ENTROPY}")
    for epochs, values in series(table, "bytenet", f"test_{CROSS_ENTROPY}").values():
        smoothed = smooth(values, 0.3)
        lowest.append(float(smoothed.min()))
        places.append(float(epochs[smoothed.argmin()]))
    ratios = [end / low for end, low in zip(ends, lowest, strict=True)]
    return [
        statement(
            "test cross entropy at the end over its least",
            "rises again: least about 120 nats a sentence, about 600 at the end (5 times)",
            holds=min(ratios) > 1.5, measured=fmean(ratios), values=ratios,
            note=f"least {fmean(lowest):.0f} nats at epoch {fmean(places):.0f}, {fmean(ends):.0f} at the end",
        )
    ]  # fmt: skip


def learns_by_heart(table: Table, scale: Scale) -> list[Verdict]:
    train_bleu = settled(table, "bytenet", "train_bleu")
    test_bleu = settled(table, "bytenet", "test_bleu")
    loss = settled(table, "bytenet", f"train_{CROSS_ENTROPY}")
    printed_loss = _printed("bytenet", "train", CROSS_ENTROPY)
    begins, middle = (_share_of_loss_at_bleu(table, "bytenet", threshold, 0.3) for threshold in (5, 50))
    return [
        _at_size(scale, compare("train BLEU", _printed("bytenet", "train", BLEU), train_bleu, tolerance=3)),
        _at_size(scale, compare("test BLEU", _printed("bytenet", "test", BLEU), test_bleu, tolerance=1)),
        _at_size(scale, compare("train cross entropy, nats a sentence", printed_loss, loss, tolerance=3)),
        statement(
            "train cross entropy, as a share of the first, when train BLEU passes 5",
            "BLEU begins to rise only when the cross entropy nears 0",
            holds=bool(begins) and max(begins) < 0.15,
            measured=fmean(begins) if begins else "BLEU never passes 5", values=begins,
            note=f"{fmean(middle):.3f} when it passes 50" if middle else "", source="result-bytenet.tex:100",
        ),
        *rising_test_loss(table, scale),
    ]  # fmt: skip


def _at_size(scale: Scale, verdict: Verdict) -> Verdict:
    """The verdict at the thesis's size; no claim for smaller trainings."""
    return verdict if scale == "thesis" else verdict.unjudged("fewer pairs, a narrower model, fewer steps")


def against_bytenet(variant: str, printed: str, holds: Callable[[float, float], bool], source: str):
    """Makes verdicts on the training BLEU of a variant: its end, and when it passes 50 compared with ByteNet."""

    def verdicts(table: Table, scale: Scale) -> list[Verdict]:
        own, other = (epoch_of_bleu(table, run, 50, 0.3) for run in (variant, "bytenet"))
        ends = settled(table, variant, "train_bleu")
        when = [f"epoch {fmean(values):.0f}" if np.isfinite(values).all() else "never" for values in (own, other)]
        return [
            _at_size(scale, compare(f"train BLEU of {variant}", _printed(variant, "train", BLEU), ends, tolerance=5)),
            statement(
                f"train BLEU passes 50: {variant}, ByteNet", printed,
                holds=all(map(holds, own, other)),
                measured=", ".join(when),
                contradicts=scale == "thesis" and not all(map(holds, own, other)), source=source,
            ),
        ]  # fmt: skip

    return verdicts


def with_first_loss(variant: str, *arguments):
    """As `against_bytenet`, with the cross entropy before the first step."""
    judge = against_bytenet(variant, *arguments)

    def verdicts(table: Table, scale: Scale) -> list[Verdict]:
        end, passes = judge(table, scale)
        at_end = [end, _at_size(scale, passes)]  # a short training says nothing about SELU
        first = first_values(table, variant, f"train_{CROSS_ENTROPY}")
        if not first:
            return at_end
        quantity = "first train cross entropy of SELU, nats a sentence"
        published = published_value(MEMORISED[variant], CROSS_ENTROPY, "train", "first")
        # Between the two first points of the thesis's figure.
        printed = round(fmean((published.value, published.high or published.value)))
        if scale == "thesis":
            return [*at_end, compare(quantity, printed, first, tolerance=0.2 * printed)]
        note = "a narrower model and shorter sentences begin lower"
        return [*at_end, Verdict(quantity=quantity, printed=printed, measured=fmean(first), note=note)]

    return verdicts


def without_normalization(table: Table, scale: Scale) -> list[Verdict]:
    ends = {run: settled(table, run, "train_bleu") for run in ("no_norm", "bytenet")}
    gaps = [with_norm - without for with_norm, without in zip(ends["bytenet"], ends["no_norm"], strict=True)]
    loss = settled(table, "no_norm", f"train_{CROSS_ENTROPY}")
    return [
        _at_size(
            scale,
            compare("train BLEU without normalisation", _BLEU_WITHOUT_NORMALIZATION, ends["no_norm"], tolerance=5),
        ),
        statement(
            "train BLEU of ByteNet minus that without normalisation, at the end",
            "never completely memorizes the training dataset",
            holds=min(gaps) > 3, measured=fmean(gaps), values=gaps,
            contradicts=scale == "thesis" and min(gaps) <= 3, source="result-selu-bytenet.tex:14",
        ),
        _at_size(
            scale,
            compare(
                "train cross entropy without normalisation, nats a sentence",
                _printed("no_norm", "train", CROSS_ENTROPY), loss, tolerance=1.5,
            ),
        ),
    ]  # fmt: skip
