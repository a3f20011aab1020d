"""Cutting a histogram of lengths: worked examples from the fact sheet, and brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.datasets.batches.partition import fixed_width_cuts, histogram_cuts, optimal_cuts
from bytenet.errors import InputError

WORKED = [0, 0, 0, 1, 2, 0, 0, 0, 10, 20, 30, 0, 1, 0, 2, 0, 5]


@pytest.mark.parametrize(
    ("histogram", "min_size", "min_width", "cuts"),
    [
        ([*WORKED, 10], 10, 4, [9, 13]),
        (WORKED, 10, 4, [9]),
        ([0, 0, 15], 10, 4, []),
        ([0, 0, 15, 5, 1, 5, 7], 100, 4, []),
        ([0, *[3] * 12], 6, 2, [3, 5, 7, 9, 11]),
        ([], 1, 1, []),
        ([5], 1, 1, []),
        ([0, 5, 5], 5, 1, [2]),
    ],
)
def test_histogram_cuts_match_the_worked_examples(histogram, min_size, min_width, cuts):
    assert histogram_cuts(histogram, min_size, min_width) == cuts


def plain_cuts(histogram, min_size, min_width):
    """Algorithm 4 word for word."""
    cuts, left, cut = [], 0, min(min_width, len(histogram))
    while cut < len(histogram):
        if sum(histogram[left:cut]) < min_size:
            cut += 1
        else:
            cuts.append(cut)
            left = cut
            cut += min_width
    if cuts and sum(histogram[left:]) < min_size:
        cuts.pop()
    return cuts


@given(st.lists(st.integers(0, 20), max_size=60), st.integers(1, 50), st.integers(1, 12))
def test_histogram_cuts_equal_the_plain_algorithm(histogram, min_size, min_width):
    cuts = histogram_cuts(histogram, min_size, min_width)
    assert cuts == plain_cuts(histogram, min_size, min_width)
    for left, right in zip([0, *cuts], [*cuts, len(histogram)], strict=True):
        assert not cuts or sum(histogram[left:right]) >= min_size
        assert right == len(histogram) or right - left >= min_width


@pytest.mark.parametrize(("min_size", "min_width"), [(0, 1), (1, 0), (-1, 5)])
def test_invalid_bucket_limits_are_refused(min_size, min_width):
    with pytest.raises(InputError, match="at least 1"):
        histogram_cuts([1, 2], min_size, min_width)


def buckets_of(histogram, cuts):
    """(pairs, longest length) of each bucket."""
    buckets = []
    for left, right in zip([0, *cuts], [*cuts, len(histogram)], strict=True):
        lengths = [length for length in range(left, right) if histogram[length]]
        assert lengths, "an empty bucket"
        buckets.append((sum(histogram[left:right]), lengths[-1]))
    return buckets


def in_batches_of_four(pairs, longest):
    """Padded positions, including the filler rows of the last batch."""
    return -(-pairs // 4) * 4 * longest


def brute_force(histogram, num_buckets, min_size, positions):
    """The fewest positions of all partitions of the lengths that occur. None if no partition is allowed."""
    lengths = [length for length, pairs in enumerate(histogram) if pairs]
    found = []
    for number in range(min(num_buckets, len(lengths))):
        for cuts in combinations(lengths[1:], number):
            buckets = buckets_of(histogram, cuts)
            if all(pairs >= min_size for pairs, _ in buckets):
                found.append(sum(positions(pairs, longest) for pairs, longest in buckets))
    return min(found, default=None)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=10).filter(any),
    st.integers(1, 7),
    st.integers(1, 15),
    st.sampled_from([np.multiply, in_batches_of_four]),
)
def test_optimal_cuts_use_the_fewest_positions_of_all_partitions(histogram, num_buckets, min_size, positions):
    cuts = optimal_cuts(histogram, num_buckets, min_size, positions)
    assert len(cuts) < num_buckets
    assert cuts == sorted(set(cuts))
    buckets = buckets_of(histogram, cuts)
    fewest = brute_force(histogram, num_buckets, min_size, positions)
    if fewest is None:
        assert cuts == []
    else:
        assert sum(positions(pairs, longest) for pairs, longest in buckets) == fewest
        assert all(pairs >= min_size for pairs, _ in buckets)


def test_optimal_cuts_match_the_hand_calculation():
    # 10 pairs of length 2, 2 of length 3, 10 of length 9. Two buckets: 12 * 3 + 10 * 9 = 126, 10 * 2 + 12 * 9 = 128.
    histogram = [0, 0, 10, 2, 0, 0, 0, 0, 0, 10]
    assert optimal_cuts(histogram, 1) == []
    assert optimal_cuts(histogram, 2) == [9]
    assert optimal_cuts(histogram, 3) == [3, 9]
    assert optimal_cuts(histogram, 9) == [3, 9], "no more buckets than lengths"
    assert optimal_cuts(histogram, 10**15) == [3, 9], "memory for as many buckets as lengths"
    assert optimal_cuts(histogram, 3, min_size=3) == [9]
    assert optimal_cuts(histogram, 3, min_size=23) == []
    assert optimal_cuts([], 3) == []
    # In batches of 4, the two pairs of length 3 cost nothing among the longest: they replace filler rows.
    assert optimal_cuts(histogram, 3, positions=in_batches_of_four) == [3]


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60).filter(any), st.integers(1, 50), st.integers(1, 12))
def test_optimal_cuts_never_need_more_positions_than_histogram_cuts(histogram, min_size, min_width):
    by_histogram = histogram_cuts(histogram, min_size, min_width)
    lengths = np.flatnonzero(histogram)
    best = optimal_cuts(histogram, len(by_histogram) + 1, min_size)
    taken, fewest = (
        sum(
            sum(histogram[left:right]) * max((n for n in lengths if left <= n < right), default=0)
            for left, right in zip([0, *cuts], [*cuts, len(histogram)], strict=True)
        )
        for cuts in (by_histogram, best)
    )
    assert fewest <= taken


@pytest.mark.parametrize(("num_buckets", "min_size"), [(0, 1), (1, 0)])
def test_invalid_numbers_and_sizes_of_buckets_are_refused(num_buckets, min_size):
    with pytest.raises(InputError, match="at least 1 bucket"):
        optimal_cuts([1, 2], num_buckets, min_size)
    if num_buckets < 1:
        with pytest.raises(InputError, match="at least 1 bucket"):
            fixed_width_cuts([1, 2], num_buckets)


@pytest.mark.parametrize(
    ("histogram", "num_buckets", "cuts"),
    [
        ([0, 1, 1, 1, 1, 1, 1], 3, [3, 5]),
        ([0, 0, 0, 5, 0, 0, 0, 1], 2, [6]),
        ([0, 1, 1], 5, [2]),
        ([3], 2, []),
        ([], 2, []),
    ],
)
def test_fixed_width_cuts_match_the_examples(histogram, num_buckets, cuts):
    assert fixed_width_cuts(histogram, num_buckets) == cuts
