"""The presets for a user's own pairs, and the number of pairs that each is made for."""

import math
from collections.abc import Mapping
from typing import Final

_SIZES: Final = {"2k": 2_000, "10k": 10_000, "30k": 30_000, "150k": 150_000}


def _presets(suffix: str) -> dict[str, int]:
    return {f"pairs-{size}{suffix}": number for size, number in _SIZES.items()}


PRESETS_OF_FAMILIES: Final = {
    "recurrent": _presets("-bahdanau"), "convs2s": _presets("-convs2s"), "bytenet": _presets(""),
}  # fmt: skip
"""The presets of each family of models, in the order in which they are tried."""

USUAL_FAMILY: Final = "recurrent"
"""The family with the highest scores with 3,000, 10,000 and 29,000 captions, one training each (docs/results.md)."""

PRESETS_FOR_STARTS: Final = _presets("-start")
"""The presets for trainings that start from a trained model. The model has the sizes of its start."""

FAMILIES_OF_STARTS: Final = ("bytenet", "transformer")
"""The families of trained models that these presets are for. The others have their own presets."""


def nearest_preset(num_pairs: int, presets: Mapping[str, int]) -> str:
    """The preset for the nearest number of pairs, by ratio.

    Args:
        num_pairs: in the corpus.
        presets: number of pairs that each is made for.
    """
    return min(presets, key=lambda name: abs(math.log(presets[name] / max(num_pairs, 1))))
