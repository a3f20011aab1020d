"""Beyond the thesis: which settings improve the translations of a small corpus, one change at a time.

Two models learn 3,000 pairs of Multi30k: ByteNet with attention (the preset `pairs-2k`), and ConvS2S. Each is also
trained with one change: of a setting, or of the training pairs. All trainings of a model take about the same time, less
than half of that of the preset. So they say little about regularisation in longer trainings. They are compared on the
validation set. The test set is not used.
"""

from functools import partial
from pathlib import Path
from statistics import fmean

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.changes import BYTENET, CONVS2S, PAIRS, ChangedModel
from bytenet.reproduction.figures.contest.systems import validation_of
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save
from bytenet.reproduction.figures.shared.translation_scores import (
    SCORES,
    bootstrap_note,
    draw_trainings,
    scores_and_gains,
)


def _measure(work: Work, model: ChangedModel) -> Table:
    """Rows of `change`, `trial`, validation scores, gains over the unchanged model of the trial, and `validation_of`.

    The columns of scores and gains are those of `scores_and_gains`.
    """
    runs = {name: model.training(name, work.scale) for name in model.names(work.scale)}
    return [
        {"change": name, "trial": trial, **scores, **validation_of(folder)}
        for name, trial, folder, scores in scores_and_gains(work, runs, model.name, "validation")
    ]


def _verdicts(table: Table, scale: Scale, model: ChangedModel) -> list[Verdict]:
    """The scores of the unchanged model, and the gain of each change."""
    verdicts, changed = [], _with_gains(table, model)
    for name in texts_in(table, "change"):
        rows = rows_where(table, change=name)
        means = {
            column: fmean(by_trial(rows, column).values())
            for column in ("length_ratio", "minutes", "best_step", "steps", "val_loss")
        }
        for key, score in SCORES.items():
            column = key if name == model.name else f"{key}_gain"
            values = list(by_trial(table if name == model.name else changed, column, change=name).values())
            if not values:
                continue
            verdicts.append(
                mean_of(
                    f"validation {score}, {name}" if name == model.name else f"gain of {score}, {name}", values,
                    note=f"{bootstrap_note(rows, column)}; length ratio {means['length_ratio']:.2f}; the best model is "
                    f"that of step {means['best_step']:,.0f} of {means['steps']:,.0f}, with a loss of "
                    f"{means['val_loss']:.3f}; {means['minutes']:.0f} min",
                )
            )  # fmt: skip
    return verdicts


def _with_gains(table: Table, model: ChangedModel) -> Table:
    """The rows of changes, with the differences of both scores to the unchanged model of the same trial as gains.

    Rows without an unchanged model in the table are left out. Joined rows have gains, too. Their unchanged model was
    translated on another machine, so these gains have no bootstrap intervals.
    """
    unchanged = {int(row["trial"]): row for row in rows_where(table, change=model.name)}
    return [
        row | {f"{key}_gain": number_in(row, key) - number_in(unchanged[row["trial"]], key) for key in SCORES}
        for row in table
        if row["change"] != model.name and row["trial"] in unchanged
    ]


def _plot(table: Table, path: Path, model: ChangedModel) -> None:
    """Draw the gains of each change over the unchanged model, a panel for each score."""
    changed = _with_gains(table, model)
    names = texts_in(changed, "change")
    figure = new_figure(1.6 + 0.32 * len(names), width=10.0)
    all_axes = figure.subplots(1, 2, sharey=True)
    for axes, (key, score) in zip(all_axes, SCORES.items(), strict=True):
        axes.axvline(0, color="black", linewidth=0.8)
        for place, name in enumerate(names):
            draw_trainings(axes, rows_where(changed, change=name), f"{key}_gain", place)
        axes.set_xlabel(f"gain of {score} on the validation set")
        axes.grid(alpha=0.3)
    all_axes[0].set_yticks(range(len(names)), names)
    all_axes[0].set_ylim(max(1, len(names)) - 0.5, -0.5)
    legend_below(figure, handles_of(all_axes))
    save(figure, path)


def _label(name: str) -> Row:
    return {"change": name}


def _experiment(name: str, title: str, model: ChangedModel, hours: str) -> Experiment:
    return Experiment(
        name=name,
        is_thesis=False,
        title=f"What improves {title} on {PAIRS:,} pairs: one change at a time",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": f"{hours} h for a seed, two trainings at a time",
                "thesis": "as cpu",
            },
        ),
        basis=Basis("trained, beyond the thesis", f"{PAIRS:,} pairs, d = {model.dim}, {model.steps:,} steps"),
        runs=lambda scale: [model.training(change, scale) for change in model.names(scale)],
        measure=partial(_measure, model=model),
        verdicts=partial(_verdicts, model=model),
        plot=partial(_plot, model=model),
        labels=lambda scale: [_label(change) for change in model.names(scale)],
    )


EXPERIMENTS = (
    _experiment("quality-factors", "ByteNet with attention", BYTENET, "4.5"),
    _experiment("quality-factors-convs2s", "ConvS2S", CONVS2S, "3"),
)
