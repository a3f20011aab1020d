"""The lines and marks of a panel of curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bytenet.evaluation import smooth
from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.figures.shared.cells import number_in, texts_in
from bytenet.reproduction.figures.shared.curves import series
from bytenet.reproduction.figures.shared.plots import SMALL, shown_name
from bytenet.reproduction.figures.shared.thesis_curves import KINDS, Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPLITS = ("train", "test")
SPLIT_NAMES = {"train": "training pairs", "test": "test pairs"}
NOTE_HEIGHT = 0.1  # fraction of the y-axis for each value written at its top
LABELS = {
    "sentence_cross_entropy": "cross entropy, nats per sentence",
    "misclassification": "misclassification rate",
    "bleu": "BLEU, 0 to 100",
}
WORDS = {"sentence_cross_entropy": "cross entropy", "misclassification": "misclassification rate", "bleu": "BLEU"}
_MARGIN = 0.03  # fraction of the y-axis; without it the frame would hide curves at 0
FAR = 3
"""A value of the thesis above `FAR` times our highest value is written at the top of the axis, not drawn."""
_STEEP = 20  # the axis is logarithmic if the highest value is above this many times the median


@dataclass(frozen=True)
class Panel:
    """One measure of the curves.

    Attributes:
        measure: "sentence_cross_entropy", "misclassification" or "bleu".
        limits: limits of the y-axis; None fits them to the values.
        clip: larger values are drawn at this height; None clips nothing.
    """

    measure: str
    limits: tuple[float, float] | None = None
    clip: float | None = None


@dataclass(frozen=True)
class Line:
    """A curve of a panel: its run, its split, its label and its colour."""

    run: str
    split: str
    label: str
    colour: str


def lines_by_panel_column(table: Table, colour_by: str) -> dict[str, list[Line]]:
    """The lines of each column of panels, by the title of the column."""
    runs = texts_in(table, "run")
    if colour_by == "split":
        return {
            shown_name(run): [Line(run, split, SPLIT_NAMES[split], f"C{place}") for place, split in enumerate(SPLITS)]
            for run in runs
        }
    return {
        SPLIT_NAMES[split]: [Line(run, split, shown_name(run), f"C{place}") for place, run in enumerate(runs)]
        for split in SPLITS
    }


def draw_lines(axes: "Axes", table: Table, lines: Sequence[Line], panel: Panel, alpha: float) -> float:
    """Draw our curves and return their highest value."""
    highest = 0.0
    for line in lines:
        curves = [
            (epochs, np.minimum(values, panel.clip) if panel.clip else values)
            for epochs, values in curves_of(table, line, panel.measure)
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


def draw_published(axes: "Axes", published: Published, colour: str) -> None:
    _, style = KINDS[published.kind]
    if published.kind in ("first", "point"):
        axes.plot(published.epoch or 0, published.value, color=colour, clip_on=False, zorder=3, **style)
    elif published.high is None:
        axes.axhline(published.value, color=colour, linewidth=1.1, **style)
    else:
        axes.axhspan(published.value, published.high, color=colour, alpha=0.2, linewidth=0)
        for edge in (published.value, published.high):
            axes.axhline(edge, color=colour, linewidth=0.8, **style)


def raw_values(axes: "Axes") -> list[np.ndarray]:
    """The y-values of all drawn curves."""
    drawn = [np.asarray(line.get_ydata(), float) for line in axes.lines]
    return [values for values in drawn if len(values) > 2]


def set_limits(axes: "Axes", panel: Panel, num_notes: int, middle: float) -> None:
    """Set the limits of a row's y-axis, with room for `num_notes` lines at the top.

    The axis is logarithmic above 10 if the highest value is many times the median, as in the first steps of SELU.
    """
    low, high = panel.limits or (0.0, axes.get_ylim()[1])
    if panel.limits is None and high > _STEEP * max(middle, 1.0):
        axes.set_yscale("symlog", linthresh=10)
        axes.set_ylim(0, high * 4 ** (1 + num_notes))
    else:
        height = high - low
        axes.set_ylim(low - _MARGIN * height, high + (_MARGIN + NOTE_HEIGHT * num_notes) * height)
    axes.set_ylabel(LABELS[panel.measure])
    axes.tick_params(labelleft=True)


def write_above(axes: "Axes", values: Sequence[tuple[Published, str]]) -> None:
    """Write the values that are above the axis at its top."""
    for line, (published, colour) in enumerate(values):
        text = f"▲ {published.full_text}"
        height = 0.98 - 0.09 * line
        axes.text(0.015, height, text, color=colour, transform=axes.transAxes, va="top", fontsize=SMALL)


def draw_epochs(grid: np.ndarray, table: Table) -> None:
    from matplotlib.ticker import MaxNLocator

    for axes in grid.flat:
        if axes.axison:
            for epoch in range(1, int(max(number_in(row, "epoch") for row in table)) + 1):
                axes.axvline(epoch, color="grey", linewidth=0.5, alpha=0.4, zorder=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def curves_of(table: Table, line: Line, measure: str) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(series(table, line.run, f"{line.split}_{measure}").values())
