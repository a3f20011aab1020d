"""Draws the pictures of docs/models: `python docs/images/draw_families.py`.

Each picture shows how a model predicts one character: what its layers read, and what they attend to. The encoder is
above, with the source in the top row. The decoder is below, with the translation so far in the bottom row.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

HERE = Path(__file__).parent
BLUE, ORANGE, GREY, BLACK = "#1f6f9f", "#d9822b", "#c9ced3", "#30363b"
SOURCE, TARGET = "dreizehn⏎", "thirteen⏎"
STEP = 6  # the step that predicts a character, from 0
TAPS = 3  # of the convolutions
TOP, ENCODED, DECODED = (
    7,
    5,
    2,
)  # rows: source characters, encoder's output, decoder's output. Row 0: characters so far.

Node = tuple[float, float]  # column and row


def draw_convs2s() -> None:
    """Convolutions, and attention in each layer of the decoder."""
    half = TAPS // 2
    _draw_layers(
        "convs2s",
        lambda step: range(max(step - half, 0), min(step + half + 1, len(SOURCE))),
        lambda step: range(step - TAPS + 1, step + 1),
        ["convolution, GLU", "convolution, GLU → keys, values", "convolution, GLU, attention"],
    )


def draw_transformer() -> None:
    """Self-attention of all symbols, and attention to the source in each layer of the decoder."""
    _draw_layers(
        "transformer",
        lambda step: range(len(SOURCE)),
        lambda step: range(step + 1),
        [
            "self-attention, feed-forward",
            "self-attention, feed-forward",
            "self-attention, cross-attention, feed-forward",
        ],
    )


def _draw_layers(
    name: str, source_reads: Callable[[int], range], target_reads: Callable[[int], range], labels: list[str]
) -> None:
    """Draw a model whose encoder and decoder have two layers each.

    Args:
        name: of the picture.
        source_reads, target_reads: the steps of the row before that a step of the encoder or of the decoder reads.
        labels: of the encoder's layers, first one first, and of each layer of the decoder.
    """
    axes = _axes()
    rows = {TOP - 1: labels[0], ENCODED: labels[1], DECODED: labels[2], 1: labels[2]}
    columns = range(len(SOURCE))
    for row in (TOP - 1, ENCODED):
        _lines(axes, (((column, row), (read, row + 1)) for column in columns for read in source_reads(column)), BLUE)
        _dots(axes, row, columns, columns)
    seen = {STEP}
    for row in (DECODED, 1):
        _dots(axes, row, range(STEP + 1), seen)
        _lines(axes, (((step, row), (read, row - 1)) for step in seen for read in target_reads(step)), BLUE)
        seen = {read for step in seen for read in target_reads(step)}
        _lines(axes, (((STEP, row), (column, ENCODED)) for column in columns), ORANGE)
    _finish(axes, name, rows, seen)


def draw_recurrent() -> None:
    """A bidirectional encoder, and a decoder whose state before a step attends to the source (Bahdanau et al.)."""
    axes = _axes()
    forward, backward, box_bottom, context = TOP - 1, ENCODED, ENCODED - 0.3, (STEP - 0.5, 2.8)
    columns, steps = range(len(SOURCE)), range(STEP + 1)
    for column in columns:
        _lines(axes, [((column, forward + 0.3), (column, TOP))], BLUE)
        box = FancyBboxPatch((column - 0.2, box_bottom), 0.4, 1.6, boxstyle="round,pad=0,rounding_size=0.15")
        box.set(facecolor="white", edgecolor=GREY, zorder=1)
        axes.add_patch(box)
    for row, order in ((forward, columns), (backward, columns[::-1])):
        _chain(axes, [(column, row) for column in order], BLUE)
        _dots(axes, row, columns, columns)
    _lines(axes, ((context, (column, box_bottom)) for column in columns), ORANGE)
    _chain(axes, [(STEP - 1, 1), context, (STEP, 1)], ORANGE)
    axes.scatter(*context, s=38, color=ORANGE, zorder=2)
    axes.text(context[0] + 0.3, context[1], "context", va="center", fontsize=10, color=ORANGE)
    _chain(axes, [(step, 1) for step in steps], BLUE)
    _lines(axes, (((step, 1), (step, 0)) for step in steps), BLUE)
    _dots(axes, 1, steps, steps)
    labels = {forward: "states, read forward", backward: "states, read backward", 1: "states of the decoder"}
    _finish(axes, "recurrent-attention", labels, steps, decoded=1)


def _axes() -> Axes:
    _, axes = plt.subplots(figsize=(7, 4))
    axes.set_axis_off()
    axes.set(xlim=(-0.6, len(SOURCE) - 0.4), ylim=(-0.6, TOP + 0.5))
    return axes


def _lines(axes: Axes, ends: Iterable[tuple[Node, Node]], color: str) -> None:
    """Lines from node to node; paler if there are many."""
    ends = list(ends)
    for (column, row), (other_column, other_row) in ends:
        alpha = min(0.7, 25 / len(ends))
        axes.plot([column, other_column], [row, other_row], color=color, linewidth=0.8, alpha=alpha, zorder=0.5)


def _chain(axes: Axes, nodes: list[Node], color: str) -> None:
    """Arrows from each node to the next one."""
    for node, following in pairwise(nodes):
        arrow = {"arrowstyle": "-|>", "color": color, "linewidth": 0.8, "shrinkA": 3, "shrinkB": 4}
        axes.annotate("", following, node, arrowprops=arrow)


def _dots(axes: Axes, row: float, steps: Iterable[int], seen: Iterable[int]) -> None:
    """A dot for each step; blue for those that the prediction depends on."""
    steps, seen = list(steps), set(seen)
    colors = [BLUE if step in seen else GREY for step in steps]
    axes.scatter(steps, [row] * len(steps), s=38, c=colors, zorder=2)


def _finish(axes: Axes, name: str, labels: dict[int, str], seen: Iterable[int], decoded: int = DECODED) -> None:
    """Add characters, labels of the rows and the prediction, and save the picture."""
    background = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    characters = [(column, TOP, character, BLACK) for column, character in enumerate(SOURCE)]
    for step, character in enumerate("∅" + TARGET[:STEP]):
        characters.append((step, 0, character, BLACK if step in seen else GREY))
    for column, row, character, color in characters:
        axes.text(column, row, character, ha="center", va="center", fontsize=11, color=color, bbox=background, zorder=3)
    attention = {(ENCODED + decoded) / 2: "attention to the source"}
    for row, label in ({TOP: "source", 0: "translation so far"} | labels | attention).items():
        color = ORANGE if row in attention else BLACK
        axes.text(-0.6, row, label, ha="right", va="center", fontsize=10, color=color)
    arrow = {"arrowstyle": "<|-", "color": BLACK, "shrinkB": 5}
    axes.annotate(f"next: {TARGET[STEP]}", (STEP, decoded), (STEP + 1, decoded), va="center", arrowprops=arrow)
    axes.figure.savefig(HERE / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(axes.figure)


if __name__ == "__main__":
    mpl.use("Agg")
    mpl.rcParams |= {"svg.hashsalt": "bytenet", "font.family": "sans-serif"}
    draw_convs2s()
    draw_transformer()
    draw_recurrent()
