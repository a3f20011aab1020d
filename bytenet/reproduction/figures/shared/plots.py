"""What the pictures of the experiments share: size, names, legends, and values written beside the axes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 8.0
"""Inches; with `DPI`, pages show it nearly as it is, so that its letters can be read."""
DPI = 120
SMALL = 9
"""Points; the size of legends and of values beside axes."""

_NAMES = {
    "bytenet": "ByteNet",
    "simplified": "Simplified ByteNet",
    "selu": "SELU ByteNet",
    "no_norm": "without normalisation",
    "thesis": "here, the thesis's settings",
    "code": "here, its code's first weights",
    "default": "here, our defaults",
}
_LETTER, _HANDLE = 0.56, 4.2  # widths in a legend, in sizes of its letters


def shown_name(run: str) -> str:
    """What a picture calls a run or settings of the data: "bytenet, all shuffled" is "ByteNet, all shuffled"."""
    first, comma, rest = run.partition(", ")
    return _NAMES.get(first, first) + comma + rest


def new_figure(height: float, width: float = WIDTH) -> "Figure":
    """An empty figure of so many inches that finds room for its labels."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: "Figure", path: Path) -> None:
    """Write a figure as PNG."""
    figure.savefig(path, dpi=DPI)


def handles_of(all_axes: Sequence["Axes"]) -> dict[str, Any]:
    """The labelled things of axes by their labels, each label once."""
    found: dict[str, Any] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return found


def legend_below(figure: "Figure", handles: Mapping[str, Any], title: str | None = None) -> None:
    """A legend below all axes, where it covers nothing, in as many columns as fit.

    Args:
        figure: it is added to.
        handles: by their labels.
        title: of the legend.
    """
    inches = (_LETTER * max(map(len, handles)) + _HANDLE) * SMALL / 72
    columns = max(1, min(len(handles), int(figure.get_figwidth() / inches)))
    figure.legend(
        handles.values(), handles, loc="outside lower center", ncols=columns, fontsize=SMALL, title=title,
        title_fontsize=SMALL, frameon=False,
    )  # fmt: skip


def write_beside(axes: "Axes", values: Sequence[tuple[float, str, str]], gap: float = 0.085) -> None:
    """Write values to the right of axes at their heights, moved apart where they would cover each other.

    To be called once the limits of the y-axis stand.

    Args:
        axes: they are written beside.
        values: y, text and colour of each.
        gap: least distance of two texts, as a part of the height of the axes.
    """
    values = sorted(values)
    to_axes = axes.transData + axes.transAxes.inverted()
    heights = [float(to_axes.transform((1, y))[1]) for y, _, _ in values]
    for height, (_, text, colour) in zip(_apart(heights, gap), values, strict=True):
        axes.text(1.015, height, text, transform=axes.transAxes, va="center", color=colour, fontsize=SMALL)


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """Rising heights, moved up where the one below is nearer than `gap`, and all down where the highest is above 1."""
    found: list[float] = []
    for height in heights:
        found.append(max(height, found[-1] + gap) if found else height)
    return [min(height, 1 - gap * above) for above, height in zip(reversed(range(len(found))), found, strict=True)]


def number(value: float) -> str:
    """A value as pictures write it: "0.01", "7.6", "75,000"."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:g}"
