"""Pictures of attention weights."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bytenet.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES_A_SYMBOL = 0.12  # less if the picture would become too large
_LEGIBLE_INCHES = 0.06  # symbols that are closer are not written
_LEAST_INCHES = 1.6
_MOST_INCHES = 60.0  # of a picture; at 150 dots an inch, it takes 320 MB while it is drawn
_MARGIN = 0.8  # inches of a panel for its labels
_SIGNS = {" ": "␣", "\t": "⇥"}


def draw_attention(source: Sequence[str], target: Sequence[str], panels: Mapping[str, np.ndarray], path: Path) -> None:
    """Draw weights into a PNG file, in panels side by side.

    The darkness of a panel is the square root of the weight. Long sentences have smaller cells, with the numbers of the
    symbols instead of their texts.

    Args:
        source, target: text of each symbol.
        panels: weights from 0 to 1, float `(T, S)`, by the title of their panel.
        path: of the picture.
    """
    from matplotlib.figure import Figure

    columns = min(len(panels), 3)
    rows = math.ceil(len(panels) / columns)
    inches_a_symbol = [
        min(_INCHES_A_SYMBOL, (_MOST_INCHES / panels_beside - _MARGIN) / len(symbols))
        for symbols, panels_beside in ((source, columns), (target, rows))
    ]
    width, height = (
        max(_MARGIN + inches * len(symbols), _LEAST_INCHES)
        for inches, symbols in zip(inches_a_symbol, (source, target), strict=True)
    )
    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    axes_of_panels = [*figure.subplots(rows, columns, squeeze=False).flat]
    for axes, (title, weights) in zip(axes_of_panels, panels.items(), strict=False):
        _draw_panel(axes, title, weights)
        for axis, symbols, inches in zip((axes.xaxis, axes.yaxis), (source, target), inches_a_symbol, strict=True):
            if inches >= _LEGIBLE_INCHES:
                axis.set_ticks(range(len(symbols)), [_SIGNS.get(symbol, symbol) for symbol in symbols], fontsize=6)
                axis.set_tick_params(length=0)
    for axes in axes_of_panels[len(panels) :]:
        axes.set_axis_off()
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=150)


def _draw_panel(axes: "Axes", title: str, weights: np.ndarray) -> None:
    from matplotlib.colors import PowerNorm

    # By the square root of the weights, because a weight of .1 would hardly be seen.
    axes.imshow(weights, cmap="Greys", norm=PowerNorm(0.5, 0, 1), aspect="auto")
    axes.set_title(title, fontsize="small")
    axes.set_xlabel("source", fontsize="small")
    axes.set_ylabel("translation", fontsize="small")
