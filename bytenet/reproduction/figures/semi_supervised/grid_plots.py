"""The pictures of the grid: errors and times by amount of unlabelled text."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bytenet.evaluation.t_intervals import student_t
from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.figures.semi_supervised.baseline_runs import ATTENTION, FORMS, PRINTED, attention_values
from bytenet.reproduction.figures.semi_supervised.grid_runs import (
    LABELLED,
    SETTINGS,
    UNLABELLED,
    WEIGHTS,
    Cell,
    Rows,
    thesis_rows,
    values_by_trial,
)
from bytenet.reproduction.figures.shared.cells import rows_where, texts_in
from bytenet.reproduction.figures.shared.plots import SMALL, handles_of, legend_below, new_figure, save, shown_name


def plot_errors(table: Table, path: Path, beside: dict[str, Table]) -> None:
    figure = new_figure(6)
    grid = figure.subplots(len(SETTINGS), len(LABELLED), sharex=True, sharey=True)
    for line, settings in zip(grid, SETTINGS, strict=True):
        for axes, labelled in zip(line, LABELLED, strict=True):
            for number, weight in enumerate(WEIGHTS):
                sides: tuple[tuple[Rows, str, float, dict[str, Any]], ...] = (
                    (thesis_rows(), "thesis", -0.06, {"mfc": "white", "ls": ":", "alpha": 0.75}),
                    (rows_where(table, settings=settings), "here", 0.06, {"ls": "-"}),
                )
                for rows, whose, place, style in sides:
                    values = [list(values_by_trial(rows, Cell(labelled, size, weight)).values()) for size in UNLABELLED]
                    label = f"weight {weight}, {whose}"
                    _draw(axes, values, 0.2 * (number - 1) + place, label, color=f"C{number}", **style)
            axes.axhline(PRINTED[labelled], color="black", ls="--", lw=1, label="attention baseline, thesis")
            for form, line_style in (("thesis", "-."), ("dense", ":")):
                if own := attention_values(beside[ATTENTION], form, labelled):
                    label = f"attention baseline here, {FORMS[form].words}"
                    axes.axhline(fmean(own), color="black", ls=line_style, lw=1, label=label)
            axes.grid(alpha=0.3)
        line[0].set_ylabel(f"{shown_name(settings)}\nmisclassification rate", fontsize=SMALL)
    grid[0][0].set_ylim(0, 1.05 * grid[0][0].get_ylim()[1])
    _finish(figure, grid, path)


def plot_times(table: Table, path: Path) -> None:
    figure = new_figure(4)
    (line,) = grid = figure.subplots(1, len(LABELLED), sharex=True, sharey=True, squeeze=False)
    drawn: dict[str, Rows] = {"thesis, two GPUs": thesis_rows()}
    for name in SETTINGS:
        trained = rows_where(table, settings=name)
        drawn[f"{shown_name(name)}, {' and '.join(texts_in(trained, 'processor'))}"] = trained
    for axes, labelled in zip(line, LABELLED, strict=True):
        for number, (label, rows) in enumerate(drawn.items()):
            minutes = [
                [
                    value / 60
                    for weight in WEIGHTS
                    for value in values_by_trial(rows, Cell(labelled, size, weight), "seconds").values()
                ]
                for size in UNLABELLED
            ]
            colour = f"C{number - 1}" if number else "grey"
            _draw(axes, minutes, 0.1 * (number - 1), label, color=colour, ls="-" if number else ":")
        axes.set(yscale="log")
        axes.grid(alpha=0.3, which="both")
    line[0].yaxis.set_major_formatter("{x:g}")
    line[0].set_ylabel("minutes a training")
    _finish(figure, grid, path)


def _draw(axes, values: Sequence[Sequence[float]], place: float, label: str, **style) -> None:
    """Draw the mean and 95 % interval of each size. Sizes without values are left out."""
    points = [(place + index, fmean(own), student_t(own)) for index, own in enumerate(values) if own]
    if points:
        errors = [
            (0, 0) if interval is None else (mean - interval[0], interval[1] - mean) for _, mean, interval in points
        ]
        axes.errorbar(
            [x for x, _, _ in points], [mean for _, mean, _ in points], yerr=list(zip(*errors, strict=True)),
            marker="o", markersize=4.5, capsize=2, linewidth=1.2, label=label, **style,
        )  # fmt: skip


def _finish(figure, grid, path: Path) -> None:
    for axes, labelled in zip(grid[0], LABELLED, strict=True):
        axes.set_title(f"{labelled} labelled pairs", fontsize="medium")
    for axes in grid[-1]:
        axes.set_xticks(range(len(UNLABELLED)), [f"{size:,}" for size in UNLABELLED])
        axes.set_xlabel("unlabelled sequences")
    legend_below(figure, handles_of(grid.flat), "points: means over trainings, bars: 95 % intervals")
    save(figure, path)
