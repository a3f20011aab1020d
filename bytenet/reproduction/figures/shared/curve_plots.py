"""Pictures of training curves: ours, raw and smoothed, and beside them what is known of the thesis's."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.figures.shared.plots import SMALL, legend_below, new_figure, save, shown_name, write_beside
from bytenet.reproduction.figures.shared.thesis_curves import KINDS, Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from bytenet.reproduction.figures.shared.curve_lines import (
    FAR,
    SPLIT_NAMES,
    WORDS,
    Line,
    Panel,
    columns_of,
    curves_of,
    draw_epochs,
    draw_lines,
    draw_published,
    raw_values,
    set_limits,
    write_above,
)


def plot_curves(
    table: Table,
    path: Path,
    panels: Sequence[Panel],
    alpha: float,
    colour_by: str = "split",
    epoch_lines: bool = False,
    published: Sequence[Published] = (),
) -> None:
    """Draw curves into a PNG file: a row a measure; thin the raw values, thick the smoothed ones.

    Where all values of a panel are 0, words stand in its place.

    Args:
        table: of `collect_curves`.
        path: of the picture.
        panels: the measures.
        alpha: of the smoothing, the thesis's "forget factor".
        colour_by: "split": a column of panels a run, train and test in two colours. "run": a column a split, and
            the runs in colours.
        epoch_lines: draw a line where each epoch ends.
        published: what is known of the thesis's curves.
    """
    columns = columns_of(table, colour_by)
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


def _colours(one: Published, panel: Panel, lines: Sequence[Line]) -> list[str]:
    """Those of the lines of a panel that a value of the thesis belongs to: one, or none."""
    if one.measure != panel.measure:
        return []
    found = [line.colour for line in lines if one.run in (None, line.run) and one.split in (None, line.split)]
    return ["black"] * bool(found) if one.kind == "baseline" else found[:1]


def all_zero(table: Table, lines: Sequence[Line], measure: str) -> bool:
    """Whether a panel of these lines would show nothing but 0."""
    return not any(values.any() for line in lines for _, values in curves_of(table, line, measure))


def _draw_row(
    row: Sequence["Axes"],
    table: Table,
    columns: Sequence[Sequence[Line]],
    panel: Panel,
    alpha: float,
    published: Sequence[Published],
) -> set[str]:
    """The panels of a measure; returns the kinds of the thesis's values that are drawn in them."""
    drawn, notes = [], []
    for axes, lines in zip(row, columns, strict=True):
        known = [(one, colour) for one in published for colour in _colours(one, panel, lines)]
        if all_zero(table, lines, panel.measure):
            _say_zero(axes, lines, panel, [one for one, _ in known])
            continue
        highest = draw_lines(axes, table, lines, panel, alpha)
        far = [one.value > FAR * highest for one, _ in known]
        near = [pair for pair, is_far in zip(known, far, strict=True) if not is_far]
        for one, colour in near:
            draw_published(axes, one, colour)
        drawn.append((axes, near))
        notes.append([pair for pair, is_far in zip(known, far, strict=True) if is_far])
    # Not before all of the row is drawn, as its axes share their limits.
    if drawn:
        middle = np.median([np.median(values) for axes, _ in drawn for values in raw_values(axes)])
        set_limits(drawn[0][0], panel, max(map(len, notes)), float(middle))
    for (axes, near), far_ones in zip(drawn, notes, strict=True):
        write_beside(axes, [(one.value, one.text, colour) for one, colour in near if one.kind != "point"])
        write_above(axes, far_ones)
    return {one.kind for _, near in drawn for one, _ in near}


def _say_zero(axes: "Axes", lines: Sequence[Line], panel: Panel, known: Sequence[Published]) -> None:
    """What is known in place of a panel of zeros."""
    axes.set_axis_off()
    splits = " and ".join(dict.fromkeys(SPLIT_NAMES[line.split] for line in lines))
    told = [f"{WORDS[panel.measure]} on {splits} is 0 throughout"]
    for run, values in groupby(known, key=lambda one: one.run):
        told.append(f"{shown_name(run)} in the thesis:" if run else "in the thesis:")
        told.append(", ".join(one.full_text.removeprefix("thesis, ") for one in values))
    axes.text(0.5, 0.5, "\n".join(told), transform=axes.transAxes, ha="center", va="center", fontsize=SMALL)


def _handles(table: Table, lines: Sequence[Line], kinds: set[str]) -> Iterator[tuple[str, Any]]:
    """Label and sample of what the legend explains: the colours, thin and thick, the thesis's kinds of values."""
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
