"""Where to cut a histogram of lengths into buckets. Each bucket is padded to its longest length.

`histogram_cuts` is the thesis's Algorithm 4. Its printed version has two slips: `length` stands for the right end of
the interval, and the accepting bin is not counted. Both are resolved as in its published code. `optimal_cuts` pads as
little as a given number of buckets can. `fixed_width_cuts` is what both are compared with.

All return exclusive upper bounds, ascending: cuts [a, b] make the buckets below a, from a to b - 1, and from b on. No
cuts mean one bucket for all.
"""

from collections.abc import Callable, Sequence

import numpy as np

from bytenet.errors import InputError

Histogram = Sequence[int] | np.ndarray
# The padded positions of buckets, from arrays of their numbers of pairs and one longest length.
Positions = Callable[[np.ndarray, int], np.ndarray]


def histogram_cuts(histogram: Histogram, min_size: int, min_width: int) -> list[int]:
    """Cut a histogram of lengths into buckets that are neither too narrow nor too small.

    Args:
        histogram: number of pairs of length 0, 1, 2, ...
        min_size: fewest pairs in a bucket.
        min_width: fewest lengths in a bucket; the last bucket may be narrower.

    Returns:
        The exclusive upper bounds of all buckets but the last, ascending.

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
        cuts.pop()  # the last pairs are too few for a bucket of their own and join the one before
    return cuts


def optimal_cuts(
    histogram: Histogram,
    num_buckets: int,
    min_size: int = 1,
    positions: Positions = np.multiply,
) -> list[int]:
    """Cut a histogram of lengths into the buckets with the fewest padded positions in total.

    Dynamic programming over the lengths that occur: the best k buckets up to some length are the best k - 1 up to a
    shorter length, and one more. The time is proportional to `num_buckets` and to the square of the number of such
    lengths (some milliseconds for 500).

    Args:
        histogram: number of pairs of length 0, 1, 2, ...
        num_buckets: most buckets. There are fewer if more do not help or `min_size` forbids them.
        min_size: fewest pairs in a bucket.
        positions: padded positions of a bucket, from its number of pairs and its longest length. The default is their
            product. A function that counts the filler rows of incomplete batches makes them part of the optimum.

    Returns:
        The exclusive upper bounds of all buckets but the last, ascending.

    Raises:
        InputError: `num_buckets` or `min_size` is below 1.
    """
    if num_buckets < 1 or min_size < 1:
        raise InputError(f"Expected at least 1 bucket of at least 1 pair; found {num_buckets} and {min_size}.")
    histogram = np.asarray(histogram)
    lengths = np.flatnonzero(histogram)
    num_buckets = min(num_buckets, len(lengths))  # more would be empty
    below = np.concatenate([[0], np.cumsum(histogram[lengths])])  # below[i]: pairs shorter than lengths[i]
    # For the first `end` lengths in exactly k buckets: the fewest positions, and where the last bucket starts.
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
    """Cut the lengths from the shortest to the longest into at most `num_buckets` buckets of equal width.

    Returns:
        The exclusive upper bounds of all buckets but the last, ascending. The last bucket may be narrower.

    Raises:
        InputError: `num_buckets` is below 1.
    """
    if num_buckets < 1:
        raise InputError(f"Expected at least 1 bucket; found {num_buckets}.")
    lengths = np.flatnonzero(histogram)
    if len(lengths) == 0:
        return []
    shortest, end = int(lengths[0]), int(lengths[-1]) + 1
    width = -(-(end - shortest) // num_buckets)
    return list(range(shortest + width, end, width))
