"""Nested and simultaneous intervals of time: which is innermost, how much of the clock each takes."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

Owner = TypeVar("Owner")


class Piece(NamedTuple):
    """A stretch of time in which an interval is the innermost one.

    Attributes:
        start, end: seconds.
        owner: of the interval.
        is_first: whether the interval begins here; it may go on after the intervals inside it.
    """

    start: float
    end: float
    owner: object
    is_first: bool


def innermost(intervals: Iterable[tuple[float, float, Owner]]) -> Iterator[Piece]:
    """Cut the nested intervals of one thread into pieces that do not overlap.

    Args:
        intervals: start, end and owner each, in any order; one that reaches out of the interval around it is
            cut off there.

    Yields:
        The pieces in the order of their ends; every interval has a first piece, perhaps of no length.
    """
    open_intervals: list[list] = []  # [end, owner, start of the piece that is under way, is_first]

    def close_until(time: float) -> Iterator[Piece]:
        while open_intervals and open_intervals[-1][0] <= time:
            end, owner, since, is_first = open_intervals.pop()
            if end > since or is_first:
                yield Piece(since, end, owner, is_first)
            if open_intervals:
                open_intervals[-1][2] = end

    for start, end, owner in sorted(intervals, key=lambda interval: (interval[0], -interval[1])):
        yield from close_until(start)
        if open_intervals:
            outer = open_intervals[-1]
            if start > outer[2] or outer[3]:
                yield Piece(outer[2], start, outer[1], outer[3])
                outer[3] = False
            end = min(end, outer[0])
        open_intervals.append([end, owner, start, True])
    yield from close_until(float("inf"))


def shared_seconds(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Share each moment equally among the intervals that hold it.

    Args:
        starts, ends: float `(n,)`, seconds.

    Returns:
        float `(n,)`: seconds of the clock for each interval; their sum is the length of the union of all.
    """
    if not len(starts):
        return np.zeros(0)
    times = np.unique(np.concatenate([starts, ends]))
    changes = np.zeros(len(times))
    first = np.searchsorted(times, starts)
    last = np.searchsorted(times, ends)
    np.add.at(changes, first, 1)
    np.add.at(changes, last, -1)
    active = np.cumsum(changes)[:-1].round()
    # Clock time divided by the number of intervals active, summed up to each moment: (number of times,)
    shared = np.concatenate([[0.0], np.cumsum(np.diff(times) / np.maximum(active, 1))])
    return shared[last] - shared[first]


def union_seconds(starts: np.ndarray, ends: np.ndarray) -> float:
    """Seconds in which at least one of the intervals is active."""
    return float(shared_seconds(starts, ends).sum())
