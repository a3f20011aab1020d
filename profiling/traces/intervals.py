"""Nested and overlapping intervals of time: which one is innermost, and how much time each takes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

Owner = TypeVar("Owner")


class Piece(NamedTuple, Generic[Owner]):
    """A stretch of time in which an interval is the innermost one.

    Attributes:
        start, end: seconds.
        owner: owner of the interval.
        is_first: whether the interval begins here. It may continue after the intervals nested in it.
    """

    start: float
    end: float
    owner: Owner
    is_first: bool


@dataclass
class _OpenInterval(Generic[Owner]):
    """An interval that has begun and not ended.

    Attributes:
        end: when it ends.
        owner: its owner.
        since: start of its current piece.
        is_first: whether that is its first piece.
    """

    end: float
    owner: Owner
    since: float
    is_first: bool = True


def innermost(intervals: Iterable[tuple[float, float, Owner]]) -> Iterator[Piece[Owner]]:
    """Cut the nested intervals of one thread into pieces that do not overlap.

    Args:
        intervals: start, end and owner of each, in any order. An interval that ends after the interval around it is
            cut off there.

    Yields:
        The pieces in the order of their ends. Every interval has a first piece, which may have no length.
    """
    stack: list[_OpenInterval[Owner]] = []

    def close_until(time: float) -> Iterator[Piece[Owner]]:
        while stack and stack[-1].end <= time:
            closed = stack.pop()
            if closed.end > closed.since or closed.is_first:
                yield Piece(closed.since, closed.end, closed.owner, closed.is_first)
            if stack:
                stack[-1].since = closed.end

    for start, end, owner in sorted(intervals, key=lambda interval: (interval[0], -interval[1])):
        yield from close_until(start)
        if stack:
            outer = stack[-1]
            if start > outer.since or outer.is_first:
                yield Piece(outer.since, start, outer.owner, outer.is_first)
                outer.is_first = False
            end = min(end, outer.end)
        stack.append(_OpenInterval(end, owner, start))
    yield from close_until(float("inf"))


def shared_seconds(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Share each moment equally among the intervals that contain it.

    Args:
        starts, ends: float `(n,)`, seconds.

    Returns:
        float `(n,)`: seconds for each interval. Their sum is the length of the union of all intervals.
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
    # Time over the number of active intervals, summed up to each moment: (number of times,)
    shared = np.concatenate([[0.0], np.cumsum(np.diff(times) / np.maximum(active, 1))])
    return shared[last] - shared[first]


def union_seconds(starts: np.ndarray, ends: np.ndarray) -> float:
    """Seconds in which at least one of the intervals is active."""
    return float(shared_seconds(starts, ends).sum())
