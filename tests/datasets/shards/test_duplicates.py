"""The table of hashes: exact until it is full, and never larger."""

import numpy as np
import pytest

from bytenet.datasets.shards.sharding.duplicates import SeenHashes
from bytenet.errors import InputError


def test_answers_are_those_of_a_set():
    random = np.random.default_rng(0)
    hashes = random.integers(-(2**63), 2**63 - 1, 80_000)
    hashes[:3] = 0, 1, -1
    stream = random.choice(hashes, 150_000)
    table, seen = SeenHashes(1), set()
    for block in np.array_split(stream, 7):
        expected = []
        for value in block.tolist():
            # 0 marks an empty slot, so it is kept as 1.
            expected.append((value or 1) in seen)
            seen.add(value or 1)
        assert table.add(block).tolist() == expected
    assert (table.remembered, table.forgotten) == (len(seen), 0)


def test_hashes_for_the_same_slots_do_not_hide_each_other():
    # Multiples of 2^59 all fall on slot 0.
    hashes = np.arange(1, 16, dtype=np.int64) << 59
    table = SeenHashes(1)
    assert not table.add(hashes).any()
    assert table.add(hashes[::-1].copy()).all()


def test_a_full_table_finds_the_duplicates_of_what_it_has():
    table = SeenHashes(1)
    size = table.nbytes
    hashes = np.random.default_rng(1).permutation(np.arange(1, 200_001))
    assert not table.add(hashes).any()
    assert table.remembered == (1 << 17) * 3 // 4
    assert table.forgotten == 200_000 - table.remembered
    again = table.add(hashes)
    assert again.sum() == table.remembered
    assert again[: table.remembered].all()  # the earliest are remembered
    assert table.nbytes == size == 1 << 20


def test_every_megabyte_counts():
    assert [SeenHashes(megabytes).nbytes for megabytes in (2, 3)] == [2 << 20, 3 << 20]
    table, hashes = SeenHashes(3), np.random.default_rng(2).permutation(np.arange(1, 400_001))
    table.add(hashes)
    assert table.remembered == 3 * (1 << 17) * 3 // 4
    assert table.add(hashes).sum() == table.remembered


def test_no_memory_and_too_much_memory_are_refused():
    with pytest.raises(InputError, match="has 0 MB"):
        SeenHashes(0)
    for megabytes in (10**9, 10**18):  # numpy's errors differ
        with pytest.raises(InputError, match="no memory for a table of duplicates of 1,000,000,000"):
            SeenHashes(megabytes)
