"""The numbers that are made of the times of clients."""

import pytest

from bytenet.profiling.benchmarks.serving.clients import percentile_99


@pytest.mark.parametrize(("number", "expected"), [(1, 1), (2, 2), (10, 10), (100, 99), (200, 198), (201, 199)])
def test_99_percent_of_the_times_are_at_most_as_long(number, expected):
    assert percentile_99(range(1, number + 1)) == expected
