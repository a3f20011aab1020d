"""Colours of the groups, and the legend."""

import os
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from bytenet.files import atomic_path
from bytenet.picture_sizes import DPI, SMALL

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

TINY = 7.5
"""Font size of names in small places, in points."""

# A group has the same colour in every picture. Grey is for operations without a group.
_COLOURS = {
    "forward": "#4e79a7", "backward": "#e15759", "optimiser": "#b07aa1", "input": "#76b7b2",
    "encoder": "#59a14f", "decoder": "#f28e2b", "embedding": "#76b7b2",
    "normalisation": "#edc948", "activation": "#f28e2b", "convolution": "#e15759", "dense": "#4e79a7",
    "data movement": "#9c755f", "dropout": "#59a14f", "gather": "#86bcb6", "loss": "#d37295",
    "sum of gradients": "#ff9da7", "communication": "#499894", "input pipeline": "#76b7b2",
    "other": "#bab0ac", "runtime": "#d9d5d2",
}  # fmt: skip
# For the parts that the families of models declare, in their order. No family has more parts.
_PART_COLOURS = (
    "#9c755f", "#b07aa1", "#edc948", "#4e79a7", "#e15759", "#59a14f", "#d37295", "#499894", "#8cd17d", "#f1ce63",
)  # fmt: skip


def colour_of(group: str) -> str:
    """The colour of a group of any level."""
    return _COLOURS.get(group) or _part_colours().get(group, _COLOURS["other"])


@cache
def _part_colours() -> dict[str, str]:
    """A colour for each part. The parts of a family have different colours."""
    from bytenet.models.registry import profile_parts

    colours: dict[str, str] = {}
    for of_family in profile_parts().values():
        parts = dict.fromkeys(declared.part for declared in of_family.values() if declared.part not in _COLOURS)
        taken = {colours[part] for part in parts if part in colours}
        free = (colour for colour in _PART_COLOURS if colour not in taken)
        colours |= {part: next(free) for part in parts if part not in colours}
    return colours


def save(figure: "Figure", path: str | os.PathLike[str], legend: Iterable["Artist"]) -> None:
    """Save a figure with a legend below it.

    Args:
        figure: the figure.
        path: path of the picture; its suffix decides the format.
        legend: handles with labels.
    """
    figure.legend(handles=legend, loc="outside lower center", ncols=4, fontsize=SMALL, frameon=False)
    with atomic_path(path) as partial:
        figure.savefig(partial, dpi=DPI)
