"""The picture of the residual blocks."""

from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.figures.network.formulas import DIMS, FORMULAS, ratio_text
from bytenet.reproduction.figures.shared.cells import rows_where
from bytenet.reproduction.figures.shared.plots import SMALL, new_figure, save, shown_name

_COLOURS = {"convolution": "C0", "batch": "C2", "layer": "C1"}


def plot_blocks(table: Table, path: Path) -> None:
    kinds = [(variant, part) for part in ("encoder block", "decoder block") for variant in DIMS]
    figure = new_figure(7)
    for axes, (variant, part) in zip(figure.subplots(1, len(kinds)), kinds, strict=True):
        rows = rows_where(table, model=variant, part=part)
        axes.set_title(f"{shown_name(variant)},\n{part}", fontsize="medium")
        axes.set(xlim=(-1.02, 1.3), ylim=(-1.5, 7.4))
        axes.axis("off")
        _draw_block(axes, rows)
        lines = [f"{sum(int(row['kernel_weights']) for row in rows):,}", "kernel weights here"]
        if variant == "bytenet":
            formula, weights = FORMULAS[part]
            lines += [f"thesis: {weights(_input_width(part)):,.0f}", formula]
        axes.text(0, -0.45, "\n".join(lines), ha="center", va="top", fontsize=SMALL)
    figure.supxlabel(ratio_text(table), fontsize=SMALL)
    save(figure, path)


def _input_width(part: str) -> int:
    """Input width of ByteNet's blocks. The decoder's input is the encoder's output beside the target."""
    return DIMS["bytenet"] * (2 if part == "decoder block" else 1)


def _draw_block(axes: Any, rows: Table) -> None:
    """Draw the layers as boxes from the bottom up, with the residual connection around them."""
    width = rows[0]["width"]
    heights = np.linspace(0, 7, len(rows) + 2) if len(rows) > 3 else np.array([0, 2.2, 4.8, 7])
    _draw_box(axes, heights[0], f"input, {width}", "white")
    for height, row in zip(heights[1:-1], rows, strict=True):
        if row["kind"] == "convolution":
            single = row["taps"] == 1
            shape = "1 tap" if single else f"{row['taps']} taps, dilation r"
            text = f"{_layer_text(row)}\n{shape} → {row['width']}"
            colour = _COLOURS["convolution"]
        else:
            norm, activation = str(row["kind"]).split(" norm, ")
            text = f"{_layer_text(row)}\n{norm} norm, {activation}"
            colour = _COLOURS[norm]
        _draw_box(axes, height, text, colour)
    arrow = {"arrowstyle": "-|>", "color": "black", "shrinkA": 0, "shrinkB": 0}
    for below, above in pairwise(heights):
        gap = _PLUS if above == heights[-1] else _HALF
        axes.annotate("", (0, above - gap), (0, below + _HALF), arrowprops=arrow)
    axes.text(0, heights[-1], "+", ha="center", va="center", fontsize=14,
              bbox={"boxstyle": "circle,pad=0.15", "facecolor": "white"})  # fmt: skip
    side = 1.2
    axes.plot([0.95, side, side], [heights[0], heights[0], heights[-1]], color="black", linewidth=1)
    axes.annotate("", (0.17, heights[-1]), (side, heights[-1]), arrowprops=arrow)


def _layer_text(row: dict[str, Any]) -> str:
    """The name of a layer, on two lines if it is long."""
    return fill(str(row["layer"]).replace("_", " "), 20)


# Half the height of a box, and the radius of the plus, in the units of the axes.
_HALF, _PLUS = 0.36, 0.18


def _draw_box(axes: Any, height: float, text: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (-0.95, height - _HALF), 1.9, 2 * _HALF, boxstyle="round,pad=0,rounding_size=0.08",
            facecolor="white" if colour == "white" else (colour, 0.25), edgecolor="black",
        )
    )  # fmt: skip
    axes.text(0, height, text, ha="center", va="center", fontsize=8)
