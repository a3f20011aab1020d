"""Batch plans: every pair once per epoch, few shapes, and an order that depends only on seed and epoch."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.datasets.batches.bucketing import plan_batches
from bytenet.datasets.batches.plan import fill_rows

plans = st.builds(
    plan_batches,
    lengths=st.lists(st.integers(1, 80), min_size=1, max_size=150).map(np.array),
    batch_size=st.integers(1, 20),
    batch_chars=st.none() | st.integers(1, 800),
    min_size=st.none() | st.integers(1, 30),
    min_width=st.integers(1, 15),
    replicas=st.integers(1, 4),
    bucketing=st.sampled_from(["optimal", "histogram", "fixed_width", "none"]),
    num_buckets=st.none() | st.integers(1, 9),
    pad_to_multiple_of=st.integers(1, 9),
    shuffle=st.sampled_from(["corpus", "buffer", "none"]),
    shuffle_buffer=st.integers(1, 50),
)


def test_the_text_of_a_plan_is_that_of_all_versions():
    """Checkpoints have its digest. With another text, older runs could not be resumed."""
    plan = plan_batches(np.array([3, 3, 5, 9]), batch_size=2, min_size=1, num_buckets=2)
    assert plan.settings == (
        "((Bucket(lower=0, upper=3, length=3, rows=2, batch_size=2, batches=1, padding_share=0.0), "
        "Bucket(lower=5, upper=9, length=9, rows=2, batch_size=2, batches=1, padding_share=0.2222222222222222)), "
        "1, 'corpus', 8192)"
    )


@given(plans, st.integers(0, 2**31), st.integers(0, 5))
def test_every_epoch_holds_every_pair_once_in_few_shapes(plan, seed, epoch):
    batches = plan.epoch(seed, epoch)
    assert len(batches) == plan.num_batches
    rows = np.concatenate([batch.indices for batch in batches])
    assert sorted(rows[rows >= 0]) == list(range(len(plan.lengths)))
    assert Counter((len(batch.indices), batch.length) for batch in batches) == plan.shapes
    assert sorted({batch.length for batch in batches}) == plan.padded_lengths
    for batch in batches:
        real = batch.indices[batch.indices >= 0]
        assert plan.lengths[real].max() <= batch.length
        assert batch.indices.dtype == np.int32


@given(plans)
def test_plan_statistics_match_its_batches(plan):
    batches = plan.epoch(seed=1, epoch=0)
    positions = sum(batch.length * len(batch.indices) for batch in batches)
    assert plan.padding_share == pytest.approx(1 - plan.lengths.sum() / positions)
    for bucket in plan.buckets:
        inside = plan.lengths[(plan.lengths >= bucket.lower) & (plan.lengths <= bucket.upper)]
        assert (bucket.pairs, bucket.upper) == (len(inside), inside.max())
        area = bucket.batches * bucket.batch_size * bucket.length
        assert bucket.padding_share == pytest.approx(1 - inside.sum() / area)
        longest = [plan.lengths[batch.indices[batch.indices >= 0]].max() for batch in batches]
        assert sum(bucket.lower <= length <= bucket.upper for length in longest) == bucket.batches


@given(plans)
def test_each_batch_is_spread_evenly_over_the_replicas(plan):
    for batch in plan.epoch(seed=1, epoch=0):
        shares = (batch.indices.reshape(plan.replicas, -1) >= 0).sum(axis=1)
        assert shares.max() - shares.min() <= 1


@given(plans, st.integers(0, 2**31), st.integers(0, 5))
def test_epoch_depends_only_on_seed_and_epoch_number(plan, seed, epoch):
    for one, other in zip(plan.epoch(seed, epoch), plan.epoch(seed, epoch), strict=True):
        assert one.length == other.length
        np.testing.assert_array_equal(one.indices, other.indices)


def order_of(plan, seed, epoch):
    rows = np.concatenate([batch.indices for batch in plan.epoch(seed, epoch)])
    return rows[rows >= 0].tolist()


def test_epochs_and_seeds_differ_when_shuffled():
    lengths = np.arange(100) % 30 + 1
    for shuffle in ("corpus", "buffer"):
        plan = plan_batches(lengths, batch_size=8, shuffle=shuffle)
        orders = [order_of(plan, *place) for place in ((1, 0), (1, 1), (2, 0))]
        assert orders[0] != orders[1] != orders[2] != orders[0]
    plan = plan_batches(lengths, batch_size=8, shuffle="none")
    assert order_of(plan, 1, 0) == order_of(plan, 2, 5)


def test_pairs_of_the_incomplete_batch_change_from_epoch_to_epoch():
    plan = plan_batches(np.full(10, 5), batch_size=4)
    incomplete = set()
    for epoch in range(20):
        (last,) = [batch for batch in plan.epoch(3, epoch) if (batch.indices < 0).any()]
        incomplete.update(last.indices[last.indices >= 0].tolist())
    assert incomplete == set(range(10))


def test_corpus_shuffle_can_move_a_pair_anywhere():
    plan = plan_batches(np.full(1000, 5), batch_size=10)
    places = [order_of(plan, 0, epoch).index(0) for epoch in range(40)]
    assert min(places) < 250
    assert max(places) > 750


def test_buffer_shuffle_stays_within_its_buffer():
    plan = plan_batches(np.full(1000, 5), batch_size=10, shuffle="buffer", shuffle_buffer=50)
    order = order_of(plan, 0, 0)
    assert all(pair < place + 50 for place, pair in enumerate(order))
    assert order != sorted(order)
    assert plan_batches(np.full(9, 5), batch_size=9, shuffle="buffer", shuffle_buffer=1).epoch(0, 0)[
        0
    ].indices.tolist() == list(range(9))


def test_unshuffled_batches_come_in_the_order_in_which_they_fill():
    lengths = np.array([9, 2, 2, 9, 9, 2, 9, 2, 9])
    plan = plan_batches(lengths, batch_size=2, min_size=2, min_width=3, bucketing="histogram", shuffle="none")
    batches = [(batch.length, batch.indices.tolist()) for batch in plan.epoch(0, 0)]
    assert batches == [(2, [1, 2]), (9, [0, 3]), (9, [4, 6]), (2, [5, 7]), (9, [8, -1])]


@given(plans, st.integers(0, 2**31))
def test_the_first_batch_of_a_shuffled_run_is_one_of_the_largest(plan, seed):
    first = plan.epoch(seed, 0)[0]
    largest = max((bucket.batch_size * bucket.length, bucket.length) for bucket in plan.buckets)
    if plan.shuffle != "none":
        assert (first.length * len(first.indices), first.length) == largest


def test_first_batch_of_later_epochs_can_be_any_batch():
    plan = plan_batches(np.repeat([5, 50], [90, 10]), batch_size=5, num_buckets=2)
    assert {plan.epoch(seed, 0)[0].length for seed in range(20)} == {50}
    assert {plan.epoch(seed, 1)[0].length for seed in range(20)} == {5, 50}


def test_longest_of_equally_large_batches_comes_first():
    plan = plan_batches(np.repeat([6, 3], [20, 40]), batch_chars=12, num_buckets=2)
    assert [(bucket.batch_size, bucket.upper) for bucket in plan.buckets] == [(4, 3), (2, 6)]
    assert plan.epoch(0, 0)[0].length == 6


def test_unshuffled_largest_batch_keeps_its_place():
    plan = plan_batches(np.repeat([2, 9], [4, 4]), batch_size=2, num_buckets=2, shuffle="none")
    assert [batch.length for batch in plan.epoch(0, 0)] == [2, 2, 9, 9]


@pytest.mark.parametrize(
    ("rows", "batch_size", "replicas", "expected"),
    [
        ([7, 8, 9], 6, 2, [7, 8, -1, 9, -1, -1]),
        ([7, 8], 6, 3, [7, -1, 8, -1, -1, -1]),
        ([1, 2, 3, 4], 4, 2, [1, 2, 3, 4]),
        ([1], 2, 1, [1, -1]),
    ],
)
def test_filler_rows_are_spread_over_the_replicas(rows, batch_size, replicas, expected):
    assert fill_rows(np.array(rows, np.int32), batch_size, replicas).tolist() == expected
