"""Figures 3.3.1, D.2.1 and D.3.1: learning to write spelled digits as numerals."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Literal

from bytenet.evaluation.t_intervals import student_t
from bytenet.reproduction.engine.experiment import Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.judging import compare, difference, mean_of, statement
from bytenet.reproduction.engine.statistics import RATE, RATE_DIFFERENCE
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.digits.runs import BASIS, CODE, SETTINGS, TIME, digits_run
from bytenet.reproduction.figures.shared.curve_plots import Panel, plot_curves
from bytenet.reproduction.figures.shared.curves import beginning, collect_curves, first_values, settled
from bytenet.reproduction.figures.shared.thesis_curves import DIGITS, published_value
from bytenet.reproduction.jobs.training_run import TrainingRun

_MEASURES = ("sentence_cross_entropy", "misclassification")
_PANELS = (Panel("sentence_cross_entropy"), Panel("misclassification", limits=(0, 1)))


def _figure(
    name: str,
    variant: str,
    title: str,
    thesis: str,
    alpha: float,
    verdicts: Callable[..., list[Verdict]],
    beside: tuple[str, ...] = (),
) -> Experiment:
    """A figure of one variant.

    Args:
        name, title, thesis, verdicts, beside: attributes of the experiment.
        variant: variant of the model.
        alpha: weight of the newest value in the smoothing.
    """
    labels = ("thesis", CODE, "default") if variant == "selu" else SETTINGS

    def runs(scale: Scale) -> list[TrainingRun]:
        return [digits_run(variant, settings, scale) for settings in labels]

    def measure(work: Work) -> Table:
        labelled = dict(zip(labels, runs(work.scale), strict=True))
        return collect_curves(work, labelled, _MEASURES)

    def plot(table: Table, path: Path, others: dict[str, Table] | None = None) -> None:
        plot_curves(table, path, _PANELS, alpha, published=DIGITS[variant])

    return Experiment(
        name=name, title=title, thesis=thesis, needs=Needs(time=TIME), basis=BASIS, runs=runs, measure=measure,
        verdicts=verdicts, plot=plot, beside=beside, seeds={"cpu": 5, "thesis": 5},
    )  # fmt: skip


_ERROR = "test_misclassification"
_LITTLE_OVERFITTING = "very little overfitting if any"


def _test_error(
    quantity: str, variant: str, table: Table, run: str, tolerance: float = 0.01, lower_is_better: bool | None = None
) -> Verdict:
    """Compare the test misclassification of a run with the end of the thesis's curve. Arguments as in `compare`."""
    printed = published_value(DIGITS[variant], "misclassification", "test").value
    return compare(
        f"test misclassification, {quantity}", printed, settled(table, run, _ERROR), tolerance, RATE, lower_is_better
    )


def _bytenet(table: Table, scale: Scale) -> list[Verdict]:
    train, test = (settled(table, "thesis", f"{split}_misclassification") for split in ("train", "test"))
    gap = [error - own for error, own in zip(test, train, strict=True)]
    first, last = (part(table, "thesis", "test_sentence_cross_entropy") for part in (beginning, settled))
    rise = [late - early for early, late in zip(first, last, strict=True)]
    interval = student_t(rise)
    rises = interval is not None and interval[0] > 0
    by_cross_entropy = statement(
        "test cross entropy, last fifth of the training minus first fifth, thesis settings", _LITTLE_OVERFITTING,
        holds=not rises, measured=fmean(rise), values=rise,
        note="section 2.2 calls it overfitting if the test loss falls and then rises, and it names both cross entropy "
        f"and misclassification rate as losses; here the first goes from {fmean(first):.1f} to {fmean(last):.1f} nats "
        f"per sentence, and the test error from {fmean(beginning(table, 'thesis', _ERROR)):.2f} to {fmean(test):.2f}",
        source="result-bytenet.tex:38",
    )  # fmt: skip
    overfitting = [
        replace(by_cross_entropy, qualifies=scale != "smoke" and rises),
        _change_of_error(beginning(table, "thesis", _ERROR), test),
        mean_of(
            "test minus training misclassification, thesis settings", gap, "not said", limits=RATE_DIFFERENCE,
            note="section 2.2, which says what overfitting is, does not speak of this difference; the error on the "
            f"training pairs is {fmean(train):.3f}",
        ),
    ]  # fmt: skip
    return [
        _test_error("thesis settings", "bytenet", table, "thesis"),
        _test_error("defaults", "bytenet", table, "default", tolerance=0.0, lower_is_better=True),
        compare(
            "test cross entropy (nats per sentence), thesis settings",
            published_value(DIGITS["bytenet"], "sentence_cross_entropy", "test").value,
            last, tolerance=0.4,
        ),
        compare(
            "train misclassification, thesis settings",
            published_value(DIGITS["bytenet"], "misclassification", "train").value, train, tolerance=0.01, limits=RATE,
        ),
        *(verdict if interval else verdict.unjudged("one training") for verdict in overfitting),
    ]  # fmt: skip


def _change_of_error(first: list[float], last: list[float]) -> Verdict:
    """Judge overfitting by the misclassification rate on the test set. An interval with 0 is no claim."""
    change = [late - early for early, late in zip(first, last, strict=True)]
    low, high = student_t(change) or (0.0, 0.0)
    verdict = statement(
        "test misclassification, last fifth of the training minus first fifth, thesis settings", _LITTLE_OVERFITTING,
        holds=high < 0, measured=fmean(change), values=change, limits=RATE_DIFFERENCE,
        note=f"it goes from {fmean(first):.2f} to {fmean(last):.2f}", source="result-bytenet.tex:38",
    )  # fmt: skip
    return verdict.unjudged("the interval contains 0") if low <= 0 <= high else verdict


def _against_bytenet(
    table: Table, others: dict[str, Table], name: str, printed: str, claim: Literal["lower", "similar"], source: str
) -> list[Verdict]:
    bytenet = others.get(_BYTENET_FIGURE)
    if not bytenet:
        return []
    return [
        difference(
            f"test misclassification of {name} minus ByteNet's, thesis settings", printed,
            settled(table, "thesis", _ERROR), settled(bytenet, "thesis", _ERROR), claim, source=source,
        )
    ]  # fmt: skip


def _simplified(table: Table, scale: Scale, others: dict[str, Table]) -> list[Verdict]:
    return [
        _test_error("thesis settings", "simplified", table, "thesis"),
        _test_error("defaults", "simplified", table, "default", tolerance=0.0, lower_is_better=True),
        *_against_bytenet(
            table, others, "Simplified", "learned the synthetic digits problem better", "lower",
            "result-simple-bytenet.tex:28",
        ),
    ]  # fmt: skip


def _selu(table: Table, scale: Scale, others: dict[str, Table]) -> list[Verdict]:
    verdicts = [
        _test_error("thesis settings", "selu", table, "thesis"),
        _test_error("initial weights of the published code", "selu", table, CODE),
        _test_error("defaults", "selu", table, "default", tolerance=0.0, lower_is_better=True),
    ]
    for run, words in (("thesis", "thesis settings"), (CODE, "initial weights of the published code")):
        first = first_values(table, run, "train_sentence_cross_entropy")
        if first:
            printed = published_value(DIGITS["selu"], "sentence_cross_entropy", "test", "first").value
            verdicts.append(compare(f"first cross entropy, nats per sentence, {words}", printed, first, tolerance=5))
    return verdicts + _against_bytenet(
        table, others, "SELU", "similar results as the normal ByteNet model", "similar", "result-selu-bytenet.tex:59"
    )


_BYTENET_FIGURE = "fig-3.3.1"
EXPERIMENTS = (
    _figure(
        _BYTENET_FIGURE, "bytenet", "ByteNet on Synthetic Digits",
        "Cross entropy and misclassification, 128 training and 128 test sequences: the training error goes to zero, "
        "the test error settles at .30. The caption gives .51 for an attention model.",
        0.1, _bytenet,
    ),
    _figure(
        "fig-d.2.1", "simplified", "Simplified ByteNet on Synthetic Digits",
        "As figure 3.3.1. The test error settles at .25 (.23 in the figure), better than ByteNet's. The thesis says "
        "that fewer parameters and non-linear transformations are the likely reason.",
        0.2, _simplified, beside=(_BYTENET_FIGURE,),
    ),
    _figure(
        "fig-d.3.1", "selu", "SELU ByteNet on Synthetic Digits",
        "As figure 3.3.1. The text calls the results similar to ByteNet's. In the figure the test error settles near "
        ".39, and the first cross entropy is 103 nats per sentence. (Here the initial weights are eq. 3.5.2 with the "
        "fan of the code; another row has the initial weights of the published code.)",
        0.2, _selu, beside=(_BYTENET_FIGURE,),
    ),
)  # fmt: skip
