"""Where to cut a histogram of lengths into buckets, each of which is padded to its longest length.

`histogram_cuts` is the thesis's Algorithm 4; the slips of the printed version (`length` for the right end of
the interval, the accepting bin left out of the count) are resolved as its published code resolves them.
`optimal_cuts` pads the least that so many buckets can, and `fixed_width_cuts` is what both are measured
against.

All give exclusive upper bounds, ascending: cuts [a, b] make the buckets below a, a to b - 1, and b or more. No
cuts mean one bucket for all.
"""

from collections.abc import Callable, Sequence

import numpy as np

from bytenet.errors import InputError

Histogram = Sequence[int] | np.ndarray
# The padded positions of a bucket, from its number of pairs and its longest length; for arrays of them too.
Positions = Callable[[np.ndarray, int], np.ndarray]


def histogram_cuts(histogram: Histogram, min_size: int, min_width: int) -> list[int]:
    """Cut a histogram of lengths into buckets that are neither too narrow nor too sparse.

    Args:
        histogram: number of pairs of length 0, 1, 2, ...
        min_size: fewest pairs in a bucket.
        min_width: fewest lengths in a bucket; the last may be narrower.

    Raises:
        InputError: `min_size` or `min_width` is below 1.

    Reference:
        Madsen 2017, Algorithm 4.
    """
    if min_size < 1 or min_width < 1:
        raise InputError(f"A bucket needs at least 1 pair and 1 length; found {min_size} and {min_width}.")
    # below[n] is the number of pairs shorter than n.
    below = np.concatenate([[0], np.cumsum(histogram)])
    cuts: list[int] = []
    left, cut = 0, min(min_width, len(histogram))
    while cut < len(histogram):
        if below[cut] - below[left] < min_size:
            cut += 1
        else:
            cuts.append(cut)
            left, cut = cut, cut + min_width
    if cuts and below[-1] - below[left] < min_size:
        cuts.pop()  # too few are left for a bucket of their own: they join the one before
    return cuts


def optimal_cuts(
    histogram: Histogram,
    num_buckets: int,
    min_size: int = 1,
    positions: Positions = np.multiply,
) -> list[int]:
    """Cut a histogram of lengths into the buckets that take the fewest padded positions in all.

    Found by dynamic programming over the lengths that occur: the best k buckets up to some length are the best
    k - 1 up to a shorter one, and one more. It takes time in proportion to `num_buckets` and the square of the
    number of such lengths (some milliseconds for 500).

    Args:
        histogram: number of pairs of length 0, 1, 2, ...
        num_buckets: most buckets. Fewer are made where more do not help or `min_size` forbids them.
        min_size: fewest pairs in a bucket.
        positions: of a bucket, from the number of its pairs and its longest length; without it, their
            product. One that counts the filler rows of incomplete batches makes those part of the bargain.

    Raises:
        InputError: `num_buckets` or `min_size` is below 1.
    """
    if num_buckets < 1 or min_size < 1:
        raise InputError(f"There is at least 1 bucket of at least 1 pair; found {num_buckets} and {min_size}.")
    histogram = np.asarray(histogram)
    lengths = np.flatnonzero(histogram)
    below = np.concatenate([[0], np.cumsum(histogram[lengths])])  # below[i]: pairs shorter than lengths[i]
    # Of the first `end` of the lengths in exactly k buckets: the fewest positions, and where the last one starts.
    fewest = np.full((num_buckets + 1, len(lengths) + 1), np.inf)
    fewest[0, 0] = 0
    last_start = np.zeros(fewest.shape, int)
    for end in range(1, len(lengths) + 1):
        rows = below[end] - below[:end]
        last = np.where(rows >= min_size, positions(rows, int(lengths[end - 1])), np.inf)  # (starts,)
        totals = fewest[:-1, :end] + last  # (buckets before the last, starts)
        last_start[1:, end] = totals.argmin(axis=1)
        fewest[1:, end] = totals.min(axis=1)
    cuts: list[int] = []
    end = len(lengths)
    for k in range(int(fewest[:, end].argmin()), 1, -1):
        end = last_start[k, end]
        cuts.append(int(lengths[end]))
    return cuts[::-1]


def fixed_width_cuts(histogram: Histogram, num_buckets: int) -> list[int]:
    """Cut the lengths from the shortest to the longest into at most `num_buckets` equally wide buckets.

    Raises:
        InputError: `num_buckets` is below 1.
    """
    if num_buckets < 1:
        raise InputError(f"There is at least 1 bucket; found {num_buckets}.")
    lengths = np.flatnonzero(histogram)
    if len(lengths) == 0:
        return []
    shortest, end = int(lengths[0]), int(lengths[-1]) + 1
    width = -(-(end - shortest) // num_buckets)
    return list(range(shortest + width, end, width))
