"""The lengths of sentences and pairs in a few numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_MAX_BARS = 20


@dataclass(frozen=True)
class SideLengths:
    """The lengths of one side's sentences in characters, end symbol not counted."""

    shortest: int
    median: float
    mean: float
    longest: int


def side_lengths(texts: Sequence[str]) -> SideLengths:
    """Summarise the lengths of at least one text in NFC."""
    lengths = np.array([len(text) for text in texts])
    return SideLengths(int(lengths.min()), float(np.median(lengths)), float(lengths.mean()), int(lengths.max()))


def length_bars(lengths: np.ndarray) -> tuple[tuple[int, int, int], ...]:
    """Make a histogram of at most 20 bars of equal width, from the shortest length to the longest.

    Args:
        lengths: int `(pairs,)`, at least one.

    Returns:
        (shortest, longest, pairs) of each bar. The sum of the counts is the number of pairs.
    """
    low, high = int(lengths.min()), int(lengths.max())
    width = -(-(high - low + 1) // _MAX_BARS)
    counts = np.bincount((lengths - low) // width)
    starts = (low + width * bar for bar in range(len(counts)))
    return tuple((start, start + width - 1, int(count)) for start, count in zip(starts, counts, strict=True))
