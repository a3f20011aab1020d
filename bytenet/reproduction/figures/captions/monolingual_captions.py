"""Beyond the thesis: does monolingual text help on natural language, and more than back-translation does?

The models translate German to English. They learn from 3,000 pairs of Multi30k and from captions of other images in
either language. The settings were chosen on the validation set. The test set is used once.
"""

from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import Any

from bytenet.evaluation.t_intervals import student_t
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.statistics import SCORE, by_trial, paired_differences
from bytenet.reproduction.engine.verdict import Outcome, Verdict
from bytenet.reproduction.figures.captions.runs import (
    BACK,
    BACK_ONCE,
    BACKWARD,
    CONTROL,
    MARGINAL,
    PAIRS,
    WAYS,
    kept_and_last_scores_of,
    training_of,
)
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, text_in, texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save
from bytenet.reproduction.figures.shared.translation_scores import (
    SCORES,
    bootstrap_note,
    bootstrap_of_one,
    draw_trainings,
    scores_and_gains,
    with_gains,
)

_SEEDS = 3
_COMPARED = [way for way in WAYS if way != BACKWARD]


def _measure(work: Work) -> Table:
    """Rows of `way`, `trial`, test scores with bootstrap intervals, gains over `CONTROL`, and validation scores.

    Test scores are `bleu`, `bleu_low`, `bleu_high`, the same for `chrf`, and `length_ratio`. `bleu_gain`, ... are the
    differences to the `CONTROL` of the same trial, with the interval of the paired bootstrap. They are empty if that
    `CONTROL` is not finished. The columns of the validation set are those of `kept_and_last_scores_of`.
    """
    runs = {way: training_of(way, work.scale) for way in _COMPARED}
    rows = [
        {"way": way, "trial": trial, **scores, **kept_and_last_scores_of(folder)}
        for way, trial, folder, scores in scores_and_gains(work, runs, CONTROL, "test")
    ]
    return sorted(rows, key=lambda row: (_COMPARED.index(text_in(row, "way")), row["trial"]))


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    ways = texts_in(table, "way")
    verdicts = []
    for way in ways:
        rows = rows_where(table, way=way)
        for key, name in SCORES.items():
            values = list(by_trial(table, key, way=way).values())
            minutes = fmean(by_trial(table, "minutes", way=way).values())
            validation = fmean(by_trial(table, f"val_{key}", way=way).values())
            length = fmean(by_trial(table, "length_ratio", way=way).values())
            verdicts.append(
                mean_of(
                    f"{name}, {way}", values, limits=SCORE, over_sentences=bootstrap_of_one(rows, key),
                    note=f"{bootstrap_note(rows, key)}; validation, greedy: {validation:.2f}; "
                    f"length ratio {length:.2f}; {minutes:.0f} min"
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
    """A note if some trainings kept their starting weights; otherwise an empty list."""
    starts = list(by_trial(table, "best_step", way=way).values()).count(0)
    return [f"starting weights kept in {starts}, because no later epoch was better"] if starts else []


def _gains(table: Table, way: str, against: str) -> list[Verdict]:
    """Gains of a way over another, paired by trial; an empty list if no trial has both.

    Whether text helps is only judged against `CONTROL`, which trained as long without text, and only with all seeds. A
    training that kept its starting weights says nothing about the text, so with one of them nothing is judged.
    """
    verdicts = []
    for key, name in SCORES.items():
        gains = paired_differences(by_trial(table, key, way=way), by_trial(table, key, way=against))
        if not gains:
            continue
        interval = student_t(gains)
        notes = _kept(table, way)
        printed = "not compared"
        outcome: Outcome = "no claim"
        over_sentences = None
        if against == CONTROL:
            printed = "unlabelled text helps; natural language was not tried"
            if interval is not None and len(gains) >= _SEEDS and not notes:
                outcome = "shown" if interval[0] > 0 else "not shown"
                notes += ["it is worse: the whole interval is below 0"] * (interval[1] < 0)
        if against == CONTROL:
            gained = rows_where(with_gains(table, "way", CONTROL), way=way)
            over_sentences = bootstrap_of_one(gained, f"{key}_gain")
            notes.append(bootstrap_note(gained, f"{key}_gain"))
        elif against == PAIRS:
            notes.append("the pairs alone, not trained further")
        verdicts.append(
            Verdict(
                quantity=f"{name}, {way} minus {against}", printed=printed, measured=fmean(gains), interval=interval,
                over_sentences=over_sentences, seeds=len(gains), outcome=outcome, note="; ".join(notes),
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
            _draw_way(axes, rows_where(table, way=way), key, place)
        axes.set_xlabel(f"{name} on the test set, 0 to 100")
        axes.grid(alpha=0.3)
    all_axes[0].set_yticks(range(len(ways)), [fill(way, 26) for way in ways])
    all_axes[0].invert_yaxis()
    legend_below(figure, handles_of(all_axes))
    save(figure, path)


def _draw_way(axes: Any, rows: Table, key: str, place: int) -> None:
    draw_trainings(axes, rows, key, place)
    mean = fmean(number_in(row, key) for row in rows)
    axes.plot(mean, place, "|", color="black", markersize=16, label="mean of trainings")


EXPERIMENTS = (
    Experiment(
        name="monolingual-captions",
        is_thesis=False,
        title="Monolingual text on natural language: 3,000 pairs of Multi30k and captions of other images",
        thesis="Semi-supervised training was shown on Synthetic Digits. It was too slow for the whole of Europarl. "
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
