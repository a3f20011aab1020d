"""Beyond the thesis: how well the families translate after the same time of training.

ByteNet, ByteNet with a window of its source, ConvS2S, the Transformer and three recurrent translators learn Multi30k,
German to English, in characters. Each trains for the same time on two cores. The test set is used once.
"""

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from bytenet.csv_log import read_csv_log
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.statistics import SCORE, by_trial
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.systems import (
    ALL_SYSTEMS,
    CHOSEN,
    COMPETITORS,
    MINUTES,
    scores_and_speed_of,
    training_of,
    tuned_trainings,
)
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, text_in, texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save
from bytenet.reproduction.figures.shared.translation_scores import (
    SCORES,
    bootstrap_note,
    bootstrap_of_one,
    score_columns,
)
from bytenet.reproduction.figures.shared.validation_scores import SELECTED_BY
from bytenet.reproduction.jobs.training_run import TrainingRun

if TYPE_CHECKING:
    from bytenet.evaluation import Evaluation

_BEAM_SIZE = 5
_LENGTH_GROUPS = 4
_MINUTES_OF_ONE_CORE = 240  # at scale thesis: as much as 120 minutes of two cores


def run_of(system: str, scale: Scale, minutes: int) -> TrainingRun:
    """The training of a system for the contest."""
    return training_of(system, ALL_SYSTEMS[system], scale, CHOSEN[system], minutes)


def _runs(scale: Scale) -> dict[str, TrainingRun]:
    if scale == "thesis":
        return tuned_trainings(COMPETITORS, scale, _MINUTES_OF_ONE_CORE)
    return {system: run_of(system, scale, MINUTES[scale]) for system in COMPETITORS}


def measure(work: Work, runs: Mapping[str, TrainingRun]) -> Table:
    """Rows of `system`, `trial`, test scores with bootstrap intervals, speeds and curve; see `scores_and_speed_of`.

    `runs` has the training of each system.

    `curve` is a text: after each evaluation "minutes:chrF" of the validation set, translated greedily. `by_length` is a
    text, too: for each quarter of the test set, from short to long sources, "mean characters:chrF".
    """
    from bytenet.evaluation import evaluate_run, pairs_of_split

    rows: Table = []
    for system, run in runs.items():
        for trial, folder in work.measuring(run):
            result = evaluate_run(folder.path, pairs_of_split(folder, "test"), "test", beam_size=_BEAM_SIZE)
            row: Row = {"system": system, "trial": trial, **scores_and_speed_of(folder), **score_columns(result)}
            row["by_length"] = " ".join(f"{length:.1f}:{score:.2f}" for length, score in _by_length(result))
            row["written_a_second"] = sum(map(len, result.hypotheses)) / result.seconds
            metrics = read_csv_log(folder.metrics_path)
            evaluated = zip(metrics["seconds"], metrics[SELECTED_BY], strict=True)
            row["curve"] = " ".join(
                f"{seconds / 60:.1f}:{score:.2f}" for seconds, score in evaluated if not math.isnan(score)
            )
            rows.append(row)
    return rows


def _by_length(result: "Evaluation") -> list[tuple[float, float]]:
    """The mean length of the sources and chrF, for groups of equally many sentences, from short to long sources."""
    from bytenet.evaluation import chrf

    order = sorted(range(len(result.sources)), key=lambda line: len(result.sources[line]))
    bounds = [len(order) * part // _LENGTH_GROUPS for part in range(_LENGTH_GROUPS + 1)]
    lengths_and_scores = []
    for begin, end in itertools.pairwise(bounds):
        lines = order[begin:end]
        hypotheses, references = ([texts[line] for line in lines] for texts in (result.hypotheses, result.references))
        length = fmean(len(result.sources[line]) for line in lines)
        lengths_and_scores.append((length, chrf(hypotheses, references, bootstrap=0).value))
    return lengths_and_scores


def verdicts(table: Table, scale: Scale) -> list[Verdict]:
    """BLEU and chrF of each system, with what they cost."""
    scores = []
    for system in texts_in(table, "system"):
        rows = rows_where(table, system=system)
        mean = {key: fmean(number_in(row, key) for row in rows) for key in _MEANS}
        for key, name in SCORES.items():
            values = list(by_trial(table, key, system=system).values())
            scores.append(
                mean_of(
                    f"{name}, {system}", values, limits=SCORE, over_sentences=bootstrap_of_one(rows, key),
                    note=f"{bootstrap_note(rows, key)}; validation, greedy: "
                    f"{mean[f'val_{key}']:.2f}; {mean['minutes']:.0f} min; {mean['characters_a_second']:,.0f} target "
                    f"characters/s in training, {mean['written_a_second']:,.0f} written/s with a beam of {_BEAM_SIZE}; "
                    f"length ratio {mean['length_ratio']:.2f}",
                )
            )  # fmt: skip
    return scores


_MEANS = ("val_bleu", "val_chrf", "minutes", "characters_a_second", "written_a_second", "length_ratio")


def plot(table: Table, path: Path) -> None:
    """Draw validation chrF against time, test BLEU with intervals, and test chrF against the length of the source.

    Time is a share of the whole training, because the same steps take longer on another machine.
    """
    systems = texts_in(table, "system")
    figure = new_figure(4.2, width=12.0)
    left, right, lengths = figure.subplots(1, 3)
    for row in table:
        system = text_in(row, "system")
        place = systems.index(system)
        whole = number_in(row, "minutes")
        shares = [(100 * minutes / whole, score) for minutes, score in points_in(row, "curve")]
        for axes, points in ((left, shares), (lengths, points_in(row, "by_length"))):
            axes.plot(*zip(*points, strict=True), ".-", color=f"C{place}", label=system, alpha=0.8)
        if row["bleu_low"] != "":
            right.plot([row["bleu_low"], row["bleu_high"]], [place, place], "-", color=f"C{place}", alpha=0.4)
        right.plot(row["bleu"], place, "o", color=f"C{place}")
    left.set(xlabel="time of training, %", ylabel="chrF on the validation set, greedy")
    right.set(xlabel="BLEU on the test set,\n95 % intervals over sentences", ylim=(len(systems) - 0.5, -0.5))
    right.set_yticks(range(len(systems)), systems)
    lengths.set(xlabel="characters of the source,\nmeans of quarters of the test set", ylabel="chrF on the test set")
    for axes in (left, right, lengths):
        axes.grid(alpha=0.3)
    legend_below(figure, handles_of([left]))
    save(figure, path)


def points_in(row: Row, column: str) -> list[tuple[float, float]]:
    """The points of `curve` or `by_length`: minutes or characters, and chrF."""
    points = (point.split(":") for point in text_in(row, column).split())
    return [(float(place), float(score)) for place, score in points]


def label(system: str) -> Row:
    """The columns that identify a training, beside the trial."""
    return {"system": system}


def measured_with(scale: Scale) -> dict[str, int]:
    """What `measure` uses beside the trainings."""
    return {"beam_size": _BEAM_SIZE, "length_groups": _LENGTH_GROUPS}


EXPERIMENTS = (
    Experiment(
        name="family-contest",
        is_thesis=False,
        title="The families of models on equal terms: Multi30k in characters, the same time of two cores each",
        thesis="Not in the thesis. Of other families, it trains one recurrent model, on Synthetic Digits.",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "2 min, on Synthetic Digits",
                "cpu": "2 h for a seed with --jobs 2",
                "thesis": "15 h for a seed with --jobs 2",
            },
        ),
        basis=Basis("trained, beyond the thesis", f"d = 128 to 256, steps of {MINUTES['cpu']} minutes on two cores"),
        runs=lambda scale: list(_runs(scale).values()),
        measure=lambda work: measure(work, _runs(work.scale)),
        verdicts=verdicts,
        plot=plot,
        labels=lambda scale: [label(system) for system in COMPETITORS],
        measured_with=measured_with,
    ),
)
