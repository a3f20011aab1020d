"""Bytes of the chief reach the other workers whole, also in several parts."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bytenet.training.distribution import workers
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.workers import Workers


@pytest.fixture
def sums(monkeypatch):
    """The lengths of the arrays that two workers in two threads add up, in parts of two words."""
    lengths, shares = [], [None, None]
    barrier = threading.Barrier(2, timeout=60)

    def add(worker, values):
        shares[worker.index] = values.copy()
        barrier.wait()
        total = np.add(*shares)
        barrier.wait()  # both have read the shares
        if worker.is_chief:
            lengths.append(len(total))
        return total

    monkeypatch.setattr(workers, "_SENT_AT_ONCE", 8)
    monkeypatch.setattr(Workers, "_sum", add)
    return lengths


@pytest.mark.parametrize(
    ("count", "lengths"), [(0, [1, 1]), (1, [1, 2]), (8, [1, 2, 1]), (9, [1, 2, 2]), (21, [1, 2, 2, 2, 1])]
)
def test_the_other_worker_gets_the_bytes_of_the_chief(sums, count, lengths):
    data = bytes(range(count, 0, -1))
    both = [Workers(Cluster(("localhost:1", "localhost:2"), index)) for index in range(2)]
    with ThreadPoolExecutor(2) as threads:
        received = list(threads.map(Workers.from_chief, both, (data, b"of no matter")))
    assert received == [data, data]
    assert sums == lengths
