"""Pictures of training curves: ours, raw and smoothed, and beside them what is known of the thesis's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bytenet.evaluation import smooth
from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.figures.shared.curves import series
from bytenet.reproduction.figures.shared.plots import SMALL, legend_below, new_figure, save, shown_name, write_beside
from bytenet.reproduction.figures.shared.thesis_curves import KINDS, Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPLITS = ("train", "test")

_LABELS = {
    "sentence_cross_entropy": "cross entropy, nats a sentence",
    "misclassification": "misclassification rate",
    "bleu": "BLEU, 0 to 100",
}
_WORDS = {"sentence_cross_entropy": "cross entropy", "misclassification": "misclassification rate", "bleu": "BLEU"}
_SPLITS = {"train": "training pairs", "test": "test pairs"}
_MARGIN = 0.03  # of the y-axis, so that curves at its ends are not hidden by the frame
_FAR = 3
_STEEP = 20  # times the middle value: above that an axis is logarithmic
"""A value of the thesis so many times our highest does not stretch the axis; it is written at its top."""
_LINE = 0.1  # of the y-axis, for each value that is written at its top


@dataclass(frozen=True)
class Panel:
    """One measure of the curves.

    Attributes:
        measure: "sentence_cross_entropy", "misclassification" or "bleu".
        limits: of the y-axis; None for what the values need.
        clip: values above it are drawn at it; None for no such limit.
    """

    measure: str
    limits: tuple[float, float] | None = None
    clip: float | None = None


@dataclass(frozen=True)
class _Line:
    """A curve of a panel: the run and the split it is of, and how it is drawn."""

    run: str
    split: str
    label: str
    colour: str


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
    columns = _columns(table, colour_by)
    figure = new_figure(1.3 + 2.3 * len(panels), width=8.0 if len(columns) > 1 else 6.4)
    grid = figure.subplots(len(panels), len(columns), squeeze=False, sharex=True, sharey="row")
    kinds: set[str] = set()
    for row, panel in zip(grid, panels, strict=True):
        kinds |= _draw_row(row, table, list(columns.values()), panel, alpha, published)
    if epoch_lines:
        _draw_epochs(grid, table)
    for axes, title in zip(grid[0], columns, strict=True):
        axes.set_title(title, fontsize="medium")
    for axes in grid[-1]:
        axes.set_xlabel("epoch")
    legend_below(figure, dict(_handles(table, next(iter(columns.values())), kinds)))
    save(figure, path)


def _columns(table: Table, colour_by: str) -> dict[str, list[_Line]]:
    """By the titles of the columns, the lines of each of their panels."""
    runs = list(dict.fromkeys(row["run"] for row in table))
    if colour_by == "split":
        return {
            shown_name(run): [_Line(run, split, _SPLITS[split], f"C{place}") for place, split in enumerate(SPLITS)]
            for run in runs
        }
    return {
        _SPLITS[split]: [_Line(run, split, shown_name(run), f"C{place}") for place, run in enumerate(runs)]
        for split in SPLITS
    }


def _colours(one: Published, panel: Panel, lines: Sequence[_Line]) -> list[str]:
    """Those of the lines of a panel that a value of the thesis belongs to: one, or none."""
    if one.measure != panel.measure:
        return []
    found = [line.colour for line in lines if one.run in (None, line.run) and one.split in (None, line.split)]
    return ["black"] * bool(found) if one.kind == "baseline" else found[:1]


def all_zero(table: Table, lines: Sequence[_Line], measure: str) -> bool:
    """Whether a panel of these lines would show nothing but 0."""
    return not any(values.any() for line in lines for _, values in _curves(table, line, measure))


def _curves(table: Table, line: _Line, measure: str) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(series(table, line.run, f"{line.split}_{measure}").values())


def _draw_row(
    row: Sequence["Axes"],
    table: Table,
    columns: Sequence[Sequence[_Line]],
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
        highest = _draw_lines(axes, table, lines, panel, alpha)
        far = [one.value > _FAR * highest for one, _ in known]
        near = [pair for pair, is_far in zip(known, far, strict=True) if not is_far]
        for one, colour in near:
            _draw_published(axes, one, colour)
        drawn.append((axes, near))
        notes.append([pair for pair, is_far in zip(known, far, strict=True) if is_far])
    # Not before all of the row is drawn, as its axes share their limits.
    if drawn:
        middle = np.median([np.median(values) for axes, _ in drawn for values in _raw_values(axes)])
        _set_limits(drawn[0][0], panel, max(map(len, notes)), float(middle))
    for (axes, near), far_ones in zip(drawn, notes, strict=True):
        write_beside(axes, [(one.value, one.text, colour) for one, colour in near if one.kind != "point"])
        _write_above(axes, far_ones)
    return {one.kind for _, near in drawn for one, _ in near}


def _say_zero(axes: "Axes", lines: Sequence[_Line], panel: Panel, known: Sequence[Published]) -> None:
    """What is known in place of a panel of zeros."""
    axes.set_axis_off()
    splits = " and ".join(dict.fromkeys(_SPLITS[line.split] for line in lines))
    told = [f"{_WORDS[panel.measure]} on {splits} is 0 throughout"]
    for run, values in groupby(known, key=lambda one: one.run):
        told.append(f"{shown_name(run)} in the thesis:" if run else "in the thesis:")
        told.append(", ".join(one.full_text.removeprefix("thesis, ") for one in values))
    axes.text(0.5, 0.5, "\n".join(told), transform=axes.transAxes, ha="center", va="center", fontsize=SMALL)


def _draw_lines(axes: "Axes", table: Table, lines: Sequence[_Line], panel: Panel, alpha: float) -> float:
    """Our curves; returns their highest value."""
    highest = 0.0
    for line in lines:
        curves = [
            (epochs, np.minimum(values, panel.clip) if panel.clip else values)
            for epochs, values in _curves(table, line, panel.measure)
        ]
        for epochs, values in curves:
            if len(curves) == 1:
                axes.plot(epochs, values, color=line.colour, linewidth=0.6, alpha=0.3)
            else:
                axes.plot(epochs, smooth(values, alpha), color=line.colour, linewidth=0.7, alpha=0.4)
            highest = max(highest, float(np.nanmax(values)))
        shortest = min(len(epochs) for epochs, _ in curves)
        mean = np.mean([smooth(values, alpha)[:shortest] for _, values in curves], axis=0)
        axes.plot(curves[0][0][:shortest], mean, color=line.colour, linewidth=1.8)
    axes.grid(alpha=0.3)
    return highest


def _draw_published(axes: "Axes", one: Published, colour: str) -> None:
    _, style = KINDS[one.kind]
    if one.kind in ("first", "point"):
        axes.plot(one.epoch or 0, one.value, color=colour, clip_on=False, zorder=3, **style)
    elif one.high is None:
        axes.axhline(one.value, color=colour, linewidth=1.1, **style)
    else:
        axes.axhspan(one.value, one.high, color=colour, alpha=0.2, linewidth=0)
        for edge in (one.value, one.high):
            axes.axhline(edge, color=colour, linewidth=0.8, **style)


def _raw_values(axes: "Axes") -> list[np.ndarray]:
    """The values of the curves that are drawn."""
    return [np.asarray(line.get_ydata(), float) for line in axes.lines if len(line.get_ydata()) > 2]


def _set_limits(axes: "Axes", panel: Panel, num_notes: int, middle: float) -> None:
    """Those of the y-axis of a row, with room for `num_notes` lines at the top.

    Where the highest value is many times the middle one, as in SELU's first steps, the axis is logarithmic above 10.
    """
    low, high = panel.limits or (0.0, axes.get_ylim()[1])
    if panel.limits is None and high > _STEEP * max(middle, 1.0):
        axes.set_yscale("symlog", linthresh=10)
        axes.set_ylim(0, high * 4 ** (1 + num_notes))
    else:
        height = high - low
        axes.set_ylim(low - _MARGIN * height, high + (_MARGIN + _LINE * num_notes) * height)
    axes.set_ylabel(_LABELS[panel.measure])
    axes.tick_params(labelleft=True)


def _write_above(axes: "Axes", known: Sequence[tuple[Published, str]]) -> None:
    """Values that are above the axis."""
    for place, (one, colour) in enumerate(known):
        text = f"▲ {one.full_text}"
        height = 0.98 - 0.09 * place
        axes.text(0.015, height, text, color=colour, transform=axes.transAxes, va="top", fontsize=SMALL)


def _draw_epochs(grid: np.ndarray, table: Table) -> None:
    from matplotlib.ticker import MaxNLocator

    for axes in grid.flat:
        if axes.axison:
            for epoch in range(1, int(max(row["epoch"] for row in table)) + 1):
                axes.axvline(epoch, color="grey", linewidth=0.5, alpha=0.4, zorder=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _handles(table: Table, lines: Sequence[_Line], kinds: set[str]) -> Iterator[tuple[str, Any]]:
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
