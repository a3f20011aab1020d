"""Pictures of training curves: our raw and smoothed curves, and the known values of the thesis's curves."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.figures.shared.curve_lines import (
    FAR,
    SPLIT_NAMES,
    WORDS,
    Line,
    Panel,
    curves_of,
    draw_epochs,
    draw_lines,
    draw_published,
    lines_by_panel_column,
    raw_values,
    set_limits,
    write_above,
)
from bytenet.reproduction.figures.shared.plots import SMALL, legend_below, new_figure, save, shown_name, write_beside
from bytenet.reproduction.figures.shared.thesis_curves import KINDS, Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_curves(
    table: Table,
    path: Path,
    panels: Sequence[Panel],
    alpha: float,
    colour_by: str = "split",
    epoch_lines: bool = False,
    published: Sequence[Published] = (),
) -> None:
    """Draw curves into a PNG file: one row per measure, raw values as thin lines, smoothed values as thick lines.

    A panel with only zeros is replaced by a sentence.

    Args:
        table: result of `collect_curves`.
        path: the picture.
        panels: the measures.
        alpha: weight of the newest value in the smoothing, the thesis's "forget factor".
        colour_by: "split" makes one column of panels per run, with training and test in two colours. "run" makes one
            column per split, with the runs in different colours.
        epoch_lines: draw a line at the end of each epoch.
        published: known values of the thesis's curves.
    """
    columns = lines_by_panel_column(table, colour_by)
    figure = new_figure(1.3 + 2.3 * len(panels), width=8.0 if len(columns) > 1 else 6.4)
    grid = figure.subplots(len(panels), len(columns), squeeze=False, sharex=True, sharey="row")
    kinds: set[str] = set()
    for row, panel in zip(grid, panels, strict=True):
        kinds |= _draw_row(row, table, list(columns.values()), panel, alpha, published)
    if epoch_lines:
        draw_epochs(grid, table)
    for axes, title in zip(grid[0], columns, strict=True):
        axes.set_title(title, fontsize="medium")
    for axes in grid[-1]:
        axes.set_xlabel("epoch")
    legend_below(figure, dict(_handles(table, next(iter(columns.values())), kinds)))
    save(figure, path)


def _colours(published: Published, panel: Panel, lines: Sequence[Line]) -> list[str]:
    """The colour of the line to which a value of the thesis belongs, as a list of one or no colour."""
    if published.measure != panel.measure:
        return []
    of_value = [line for line in lines if published.run in (None, line.run) and published.split in (None, line.split)]
    colours = [line.colour for line in of_value]
    return ["black"] * bool(colours) if published.kind == "baseline" else colours[:1]


def all_zero(table: Table, lines: Sequence[Line], measure: str) -> bool:
    """Whether all values of these lines are 0."""
    return not any(values.any() for line in lines for _, values in curves_of(table, line, measure))


def _draw_row(
    row: Sequence["Axes"],
    table: Table,
    columns: Sequence[Sequence[Line]],
    panel: Panel,
    alpha: float,
    published: Sequence[Published],
) -> set[str]:
    """Draw the panels of a measure. Returns the kinds of the thesis's values drawn in them."""
    drawn, notes = [], []
    for axes, lines in zip(row, columns, strict=True):
        values = [(value, colour) for value in published for colour in _colours(value, panel, lines)]
        if all_zero(table, lines, panel.measure):
            _write_all_zero(axes, lines, panel, [value for value, _ in values])
            continue
        highest = draw_lines(axes, table, lines, panel, alpha)
        far = [value.value > FAR * highest for value, _ in values]
        near = [pair for pair, is_far in zip(values, far, strict=True) if not is_far]
        for value, colour in near:
            draw_published(axes, value, colour)
        drawn.append((axes, near))
        notes.append([pair for pair, is_far in zip(values, far, strict=True) if is_far])
    # After the whole row is drawn, because its panels share their limits.
    if drawn:
        middle = np.median([np.median(values) for axes, _ in drawn for values in raw_values(axes)])
        set_limits(drawn[0][0], panel, max(map(len, notes)), float(middle))
    for (axes, near), far_ones in zip(drawn, notes, strict=True):
        write_beside(axes, [(value.value, value.text, colour) for value, colour in near if value.kind != "point"])
        write_above(axes, far_ones)
    return {value.kind for _, near in drawn for value, _ in near}


def _write_all_zero(axes: "Axes", lines: Sequence[Line], panel: Panel, published: Sequence[Published]) -> None:
    """Write a sentence in place of a panel of zeros, with the thesis's values."""
    axes.set_axis_off()
    splits = " and ".join(dict.fromkeys(SPLIT_NAMES[line.split] for line in lines))
    text = [f"{WORDS[panel.measure]} on {splits} is 0 throughout"]
    for run, values in groupby(published, key=lambda value: value.run):
        text.append(f"{shown_name(run)} in the thesis:" if run else "in the thesis:")
        text.append(", ".join(value.full_text.removeprefix("thesis, ") for value in values))
    axes.text(0.5, 0.5, "\n".join(text), transform=axes.transAxes, ha="center", va="center", fontsize=SMALL)


def _handles(table: Table, lines: Sequence[Line], kinds: set[str]) -> Iterator[tuple[str, Any]]:
    """Labels and handles of the legend: colours, thin and thick lines, kinds of the thesis's values."""
    from matplotlib.lines import Line2D

    for line in lines:
        yield line.label, Line2D([], [], color=line.colour, linewidth=1.8)
    seeds = len({row["seed"] for row in table})
    thin, thick = (
        ("as measured", "smoothed") if seeds == 1 else (f"each of {seeds} trainings, smoothed", f"mean of the {seeds}")
    )
    yield thin, Line2D([], [], color="grey", linewidth=0.7, alpha=0.6)
    yield thick, Line2D([], [], color="grey", linewidth=1.8)
    for kind, (label, style) in KINDS.items():
        if kind in kinds:
            yield label, Line2D([], [], color="grey", linewidth=1.1, **style)
