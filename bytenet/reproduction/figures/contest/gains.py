"""Gains over a control: verdicts and a picture of both scores."""

from collections.abc import Callable
from pathlib import Path

from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.statistics import SCORE, by_trial
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import rows_where, texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save
from bytenet.reproduction.figures.shared.translation_scores import (
    SCORES,
    bootstrap_note,
    bootstrap_of_one,
    draw_trainings,
    with_gains,
)


def gain_verdicts(table: Table, key: str, control: str, note: Callable[[Table], str]) -> list[Verdict]:
    """The validation scores of the control, and the gains of all others.

    Args:
        table: rows with the column `trial` and those of `scores_and_gains`.
        key: the column that names what is compared.
        control: the name of the control.
        note: what the verdicts of one name also say, from its rows.
    """
    verdicts, changed = [], with_gains(table, key, control)
    for name in texts_in(table, key):
        rows = rows_where(table, **{key: name})
        judged = rows if name == control else rows_where(changed, **{key: name})
        for score_key, score in SCORES.items():
            column = score_key if name == control else f"{score_key}_gain"
            values = list(by_trial(judged, column).values())
            if values:
                quantity = f"validation {score}, {name}" if name == control else f"gain of {score}, {name}"
                limits = SCORE if name == control else None
                text = f"{bootstrap_note(judged, column)}; {note(rows)}"
                verdicts.append(
                    mean_of(quantity, values, limits=limits, over_sentences=bootstrap_of_one(judged, column), note=text)
                )
    return verdicts


def plot_gains(table: Table, path: Path, key: str, control: str) -> None:
    """Draw the gains over the control, a panel for each score. The arguments are those of `gain_verdicts`."""
    changed = with_gains(table, key, control)
    names = texts_in(changed, key)
    figure = new_figure(1.6 + 0.32 * len(names), width=10.0)
    all_axes = figure.subplots(1, 2, sharey=True)
    for axes, (score_key, score) in zip(all_axes, SCORES.items(), strict=True):
        axes.axvline(0, color="black", linewidth=0.8)
        for place, name in enumerate(names):
            draw_trainings(axes, rows_where(changed, **{key: name}), f"{score_key}_gain", place)
        axes.set_xlabel(f"gain of {score} on the validation set")
        axes.grid(alpha=0.3)
    all_axes[0].set_yticks(range(len(names)), names)
    all_axes[0].set_ylim(max(1, len(names)) - 0.5, -0.5)
    legend_below(figure, handles_of(all_axes))
    save(figure, path)
