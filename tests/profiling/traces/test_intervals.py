"""Nested and simultaneous intervals, calculated by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.profiling.traces.intervals import innermost, shared_seconds, union_seconds


def test_innermost_interval_counts():
    pieces = list(innermost([(0, 10, "outer"), (2, 5, "inner"), (3, 4, "core"), (7, 8, "inner")]))
    assert sorted((piece.start, piece.end, piece.owner, piece.is_first) for piece in pieces) == [
        (0, 2, "outer", True),
        (2, 3, "inner", True),
        (3, 4, "core", True),
        (4, 5, "inner", False),
        (5, 7, "outer", False),
        (7, 8, "inner", True),
        (8, 10, "outer", False),
    ]


def test_interval_of_zero_length_is_counted():
    pieces = list(innermost([(0, 2, "outer"), (1, 1, "point"), (0, 0, "start")]))
    assert {piece.owner for piece in pieces if piece.is_first} == {"outer", "point", "start"}
    assert sum(piece.end - piece.start for piece in pieces) == 2


def test_interval_that_exceeds_its_outer_interval_is_cut():
    pieces = list(innermost([(0, 2, "outer"), (1, 3, "late")]))
    assert [tuple(piece)[:3] for piece in pieces] == [(0, 1, "outer"), (1, 2, "late")]


def test_time_is_shared_equally_by_simultaneous_intervals():
    # 0-1: first alone; 1-2: first and second; 2-3: second alone; 4-5: third alone; 6-6: nothing
    shared = shared_seconds(np.array([0.0, 1.0, 4.0, 6.0]), np.array([2.0, 3.0, 5.0, 6.0]))
    assert shared == pytest.approx([1.5, 1.5, 1.0, 0.0])
    assert union_seconds(np.array([0.0, 1.0, 4.0]), np.array([2.0, 3.0, 5.0])) == pytest.approx(4)
    assert shared_seconds(np.zeros(0), np.zeros(0)).shape == (0,)


_intervals = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=30)


@given(_intervals)
def test_shares_sum_to_the_union(found):
    starts = np.array([float(start) for start, _ in found])
    ends = np.array([float(start + length) for start, length in found])
    covered = {moment for start, length in found for moment in range(start, start + length)}
    shared = shared_seconds(starts, ends)
    assert shared.sum() == pytest.approx(len(covered))
    assert np.all(shared <= ends - starts + 1e-9)


@given(_intervals)
def test_pieces_do_not_overlap_and_start_each_interval_once(found):
    pieces = list(innermost([(start, start + length, index) for index, (start, length) in enumerate(found)]))
    moments = [moment for piece in pieces for moment in range(piece.start, piece.end)]
    assert len(moments) == len(set(moments))
    assert set(moments) <= {moment for start, length in found for moment in range(start, start + length)}
    assert sorted(piece.owner for piece in pieces if piece.is_first) == list(range(len(found)))
