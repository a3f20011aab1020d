"""Shared by all pictures: size, names, legends, and values written beside the axes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytenet.files import atomic_path
from bytenet.picture_sizes import DPI, SMALL, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMES = {
    "bytenet": "ByteNet",
    "simplified": "Simplified ByteNet",
    "selu": "SELU ByteNet",
    "no_norm": "without normalisation",
    "thesis": "here, the thesis's settings",
    "code": "here, its code's initial weights",
    "default": "here, our defaults",
}
_LETTER, _HANDLE = 0.56, 4.2  # widths in a legend, in font sizes
_GAP = 0.085  # smallest distance between two texts, as a fraction of the height of the axes


def shown_name(run: str) -> str:
    """The name of a run or setting in pictures: "bytenet, all shuffled" becomes "ByteNet, all shuffled"."""
    first, comma, rest = run.partition(", ")
    return _NAMES.get(first, first) + comma + rest


def new_figure(height: float, width: float = WIDTH) -> "Figure":
    """An empty figure, size in inches, whose layout makes room for its labels."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: "Figure", path: Path) -> None:
    """Write a figure as PNG. A file that stands there is only replaced when the new one is complete."""
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=DPI)


def handles_of(all_axes: Sequence["Axes"]) -> dict[str, Any]:
    """Legend handles of all axes by label, each label once."""
    handles: dict[str, Any] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return handles


def legend_below(figure: "Figure", handles: Mapping[str, Any], title: str | None = None) -> None:
    """Draw a legend below all axes, in as many columns as fit. Without handles there is none.

    Args:
        figure: gets the legend.
        handles: legend handles by label.
        title: title of the legend.
    """
    if not handles:
        return
    inches = (_LETTER * max(map(len, handles)) + _HANDLE) * SMALL / 72
    columns = max(1, min(len(handles), int(figure.get_figwidth() / inches)))
    figure.legend(
        handles.values(), handles, loc="outside lower center", ncols=columns, fontsize=SMALL, title=title,
        title_fontsize=SMALL, frameon=False,
    )  # fmt: skip


def write_beside(axes: "Axes", values: Sequence[tuple[float, str, str]]) -> None:
    """Write values to the right of the axes at their heights. Texts that would overlap are moved apart.

    Set the limits of the y-axis before calling this.

    Args:
        axes: the values are written beside them.
        values: y, text and colour of each value.
    """
    values = sorted(values)
    to_axes = axes.transData + axes.transAxes.inverted()
    heights = [float(to_axes.transform((1, y))[1]) for y, _, _ in values]
    for height, (_, text, colour) in zip(_apart(heights), values, strict=True):
        axes.text(1.015, height, text, transform=axes.transAxes, va="center", color=colour, fontsize=SMALL)


def _apart(heights: Sequence[float]) -> list[float]:
    """Move sorted heights at least `_GAP` apart: first upwards, then down again so that none is above 1."""
    raised: list[float] = []
    for height in heights:
        raised.append(max(height, raised[-1] + _GAP) if raised else height)
    return [min(height, 1 - _GAP * above) for above, height in zip(reversed(range(len(raised))), raised, strict=True)]


def number(value: float) -> str:
    """Format a value for pictures: "0.01", "7.6", "75,000"."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:g}"
