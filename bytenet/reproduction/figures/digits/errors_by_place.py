"""Beside table 3.3.1: in which digit ByteNet's translations of Synthetic Digits are wrong, in the whole test set."""

from itertools import zip_longest
from pathlib import Path
from statistics import fmean

from bytenet.reproduction.engine.experiment import Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.judging import comparison, mean_of
from bytenet.reproduction.engine.statistics import RATE
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.digits.runs import BASIS, TIME, digits_run
from bytenet.reproduction.figures.digits.translations import test_pairs, translate
from bytenet.reproduction.figures.shared.cells import rows_where
from bytenet.reproduction.figures.shared.plots import new_figure, save
from bytenet.reproduction.jobs.training_run import TrainingRun

_WHOLE = "whole number"
_PLACES = ("first digit", "second digit", "third digit")
_PAIRS: dict[Scale, int] = {"smoke": 8, "cpu": 128, "thesis": 128}


def _runs(scale: Scale) -> list[TrainingRun]:
    return [digits_run("bytenet", "thesis", scale)]


def _measure(work: Work) -> Table:
    """Rows of `seed` and `part`: of how many test sequences that have this part it is wrong."""
    pairs = test_pairs(_PAIRS[work.scale])
    [run] = _runs(work.scale)
    return [
        {"seed": seed} | row
        for seed, folder in zip(work.seeds, work.folders(run), strict=True)
        for row in errors_by_place(pairs.target, translate(folder, pairs.source))
    ]


def errors_by_place(targets: list[str], translations: list[str]) -> Table:
    """Count the wrong numbers, and the wrong digits at each place from the left.

    A digit is right if the translation has the same character at its place.

    Args:
        targets: the numbers, of up to three digits.
        translations: one for each number, of any length.

    Returns:
        A row for each of `part`, with `numbers`, the count of targets that have this part, and `wrong`.
    """
    counts = {part: [0, 0] for part in (_WHOLE, *_PLACES)}
    for target, translation in zip(targets, translations, strict=True):
        parts = {_WHOLE: target != translation}
        parts |= {
            place: written != digit
            for place, digit, written in zip_longest(_PLACES, target, translation[: len(target)])
            if digit is not None
        }
        for part, is_wrong in parts.items():
            counts[part][0] += 1
            counts[part][1] += is_wrong
    return [{"part": part, "numbers": numbers, "wrong": wrong} for part, (numbers, wrong) in counts.items()]


def _shares(table: Table) -> dict[str, list[float]]:
    """The share that is wrong of each part, one for each seed."""
    return {
        part: [row["wrong"] / row["numbers"] for row in rows_where(table, part=part)] for part in (_WHOLE, *_PLACES)
    }


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    shares = _shares(table)
    first, *_, last = (shares[place] for place in _PLACES)
    numbers = {row["part"]: row["numbers"] for row in table}
    by_place = ", ".join(f"{place} {fmean(shares[place]):.3f} of {numbers[place]}" for place in _PLACES)
    return [
        mean_of(
            "share of test sequences translated without an error", [1 - share for share in shares[_WHOLE]],
            "“for the most part, the translations are good”", RATE,
            "the thesis does not say which translations count as good",
        ),
        comparison(
            "share of wrong third digits minus share of wrong first digits",
            "“the later digit predictions show some error”",
            [late - early for early, late in zip(first, last, strict=True)], "higher", source="result-bytenet.tex:44",
            note=f"wrong: {by_place}",
        ),
    ]  # fmt: skip


def _plot(table: Table, path: Path) -> None:
    figure = new_figure(3.6)
    axes = figure.subplots()
    shares = _shares(table)
    for place, values in enumerate(shares.values()):
        axes.plot([place] * len(values), values, "o", color="C0", alpha=0.5)
        axes.plot(place, fmean(values), "_", color="C0", markersize=24)
    axes.set_xticks(range(len(shares)), list(shares))
    axes.set(xlim=(-0.5, len(shares) - 0.5), ylim=(0, 1), ylabel="share of wrong ones in the test set")
    axes.set_title("a point for each training, a line for the mean", fontsize="small")
    axes.grid(axis="y", alpha=0.3)
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="digits-by-place",
        title="Errors of ByteNet on Synthetic Digits by the place of the digit, beam 10",
        thesis="For the most part, the translations are good, in particular at their beginning. Later digits show some "
        "errors. The thesis prints six samples (table 3.3.1) and does not count errors by place.",
        needs=Needs(time=TIME | {"cpu": "7 min for 5 seeds; the thesis's own size"}),
        basis=BASIS,
        runs=_runs,
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        seeds={"cpu": 5, "thesis": 5},
    ),
)
