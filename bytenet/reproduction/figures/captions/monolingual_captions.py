"""Beyond the thesis: does monolingual text help on natural language, and more than back-translation does?

The models translate German to English. They learn from 3,000 pairs of Multi30k and from captions of other images in
either language. The settings were chosen on the validation set. The test set is used once.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import Any

from bytenet.evaluation.t_intervals import student_t
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.statistics import by_trial, paired_differences
from bytenet.reproduction.engine.verdict import Outcome, Verdict
from bytenet.reproduction.figures.captions.runs import (
    BACK,
    BACK_ONCE,
    BACKWARD,
    CONTROL,
    MARGINAL,
    PAIRS,
    WAYS,
    training_of,
    validation_of,
)
from bytenet.reproduction.figures.shared.cells import number_in, text_in, texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save
from bytenet.reproduction.figures.shared.translation_scores import SCORES, gain_columns, score_columns

_SEEDS = 3
_COMPARED = [way for way in WAYS if way != BACKWARD]


def _measure(work: Work) -> Table:
    """Rows of `way`, `trial`, test scores with bootstrap intervals, gains over `CONTROL`, and `validation_of`.

    Test scores are `bleu`, `bleu_low`, `bleu_high`, the same for `chrf`, and `length_ratio`. `bleu_gain`, ... are the
    differences to the `CONTROL` of the same trial, with the interval of the paired bootstrap. They are empty if that
    `CONTROL` is not finished.
    """
    from bytenet.evaluation import evaluate_run, pairs_of_split

    rows: Table = []
    of_control: dict[int, Sequence[str]] = {}
    for way in sorted(_COMPARED, key=lambda way: way != CONTROL):
        for trial, folder in work.finished(training_of(way, work.scale)):
            work.say(f"monolingual-captions: translating the test set, {way}, trial {trial}")
            result = evaluate_run(folder.path, pairs_of_split(folder, "test"), "test")
            if way == CONTROL:
                of_control[trial] = result.hypotheses
            gains = gain_columns(result, of_control.get(trial), folder.config.data.languages[1])
            rows.append({"way": way, "trial": trial, **score_columns(result), **gains, **validation_of(folder)})
    return sorted(rows, key=lambda row: (_COMPARED.index(text_in(row, "way")), row["trial"]))


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    ways = texts_in(table, "way")
    verdicts = []
    for way in ways:
        for key, name in SCORES.items():
            values = list(by_trial(table, key, way=way).values())
            minutes = fmean(by_trial(table, "minutes", way=way).values())
            validation = fmean(by_trial(table, f"val_{key}", way=way).values())
            length = fmean(by_trial(table, "length_ratio", way=way).values())
            verdicts.append(
                Verdict(
                    quantity=f"{name}, {way}", printed="not tried", measured=fmean(values),
                    interval=student_t(values), seeds=len(values),
                    note=f"{_bootstrap(table, way, key)}; validation, greedy: {validation:.2f}; "
                    f"{length:.2f} words for one of the references; {minutes:.0f} min"
                    + "".join(f"; {note}" for note in _kept(table, way)),
                )
            )  # fmt: skip
    for way in ways:
        if way not in (PAIRS, CONTROL):
            verdicts += [*_gains(table, way, CONTROL), *_gains(table, way, PAIRS)]
    for way in (MARGINAL, BACK_ONCE):
        verdicts += _gains(table, way, BACK)
    return verdicts


def _kept(table: Table, way: str) -> list[str]:
    """A note if text improved nothing in some trainings; otherwise an empty list."""
    starts = list(by_trial(table, "best_step", way=way).values()).count(0)
    return [f"{starts} kept what they started from, as nothing after it was better"] if starts else []


def _bootstrap(table: Table, way: str, key: str) -> str:
    intervals = [
        f"{row[f'{key}_low']:.2f} to {row[f'{key}_high']:.2f}"
        for row in table
        if row["way"] == way and row[f"{key}_low"] != ""
    ]
    if not intervals:  # gains, if the translations of `CONTROL` were made on another machine
        return "not bootstrapped over sentences"
    return f"bootstrap over sentences, by trial: {', '.join(intervals)}"


def _gains(table: Table, way: str, against: str) -> list[Verdict]:
    """Gains of a way over another, paired by trial; an empty list if no trial has both.

    Whether text helps is only judged against `CONTROL`, which trained as long without text, and only with all seeds.
    """
    verdicts = []
    for key, name in SCORES.items():
        gains = paired_differences(by_trial(table, key, way=way), by_trial(table, key, way=against))
        if not gains:
            continue
        interval = student_t(gains)
        notes: list[str] = []
        printed = "not compared"
        outcome: Outcome = "no claim"
        if against == CONTROL:
            printed = "unlabelled text helps; natural language was not tried"
            if interval is not None and len(gains) >= _SEEDS:
                outcome = "shown" if interval[0] > 0 else "not shown"
                notes += ["it is worse: the whole interval is below 0"] * (interval[1] < 0)
        notes += _kept(table, way)
        if against == CONTROL:
            notes.append(_bootstrap(table, way, f"{key}_gain"))
        elif against == PAIRS:
            notes.append("the pairs alone, not trained further")
        verdicts.append(
            Verdict(
                quantity=f"{name}, {way} minus {against}", printed=printed, measured=fmean(gains), interval=interval,
                seeds=len(gains), outcome=outcome, note="; ".join(notes),
            )
        )  # fmt: skip
    return verdicts


def _plot(table: Table, path: Path) -> None:
    """Draw one panel per score: each seed with its bootstrap interval, and a line at the mean over seeds."""
    ways = texts_in(table, "way")
    figure = new_figure(1.6 + 0.5 * len(ways))
    all_axes = figure.subplots(1, 2, sharey=True)
    for axes, (key, name) in zip(all_axes, SCORES.items(), strict=True):
        for place, way in enumerate(ways):
            _draw_way(axes, [row for row in table if row["way"] == way], key, place)
        axes.set_xlabel(f"{name} on the test set, 0 to 100")
        axes.grid(alpha=0.3)
    all_axes[0].set_yticks(range(len(ways)), [fill(way, 26) for way in ways])
    all_axes[0].invert_yaxis()
    legend_below(figure, handles_of(all_axes))
    save(figure, path)


def _draw_way(axes: Any, rows: Table, key: str, place: int) -> None:
    for number, row in enumerate(rows):
        shifted = place + 0.15 * (number - (len(rows) - 1) / 2)
        if row[f"{key}_low"] != "":
            interval = [row[f"{key}_low"], row[f"{key}_high"]]
            axes.plot(interval, [shifted, shifted], "-", color="C0", alpha=0.4, label="95 % interval over sentences")
        axes.plot(row[key], shifted, "o", color="C0", markersize=4, label="a training")
    mean = fmean(number_in(row, key) for row in rows)
    axes.plot(mean, place, "|", color="black", markersize=16, label="mean of trainings")


EXPERIMENTS = (
    Experiment(
        name="monolingual-captions",
        is_thesis=False,
        title="Monolingual text on natural language: 3,000 pairs of Multi30k and captions of other images",
        thesis="Semi-supervised training was shown on Synthetic Digits. It was too slow for natural language. "
        "Back-translation was not compared.",
        needs=Needs(
            corpus="Multi30k and its task 2",
            time={
                "smoke": "2 min, on Synthetic Digits",
                "cpu": "4 h for 3 seeds, two trainings at a time",
                "thesis": "as cpu, one training at a time",
            },
        ),
        basis=Basis("trained, beyond the thesis", "3,000 pairs, d = 64"),
        runs=lambda scale: [training_of(way, scale) for way in _COMPARED],
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
        seeds={"cpu": _SEEDS, "thesis": _SEEDS},
        labels=lambda scale: [{"way": way} for way in _COMPARED],
    ),
)
