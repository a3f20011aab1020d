"""Histogram buckets (the fact sheet's worked examples) and batch plans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.config import DataConfig
from bytenet.datasets.bucketing import fill_rows, histogram_cuts, pair_lengths, plan_batches, plan_from_config
from bytenet.datasets.corpora import digits
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.vocabulary import Vocabulary
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
def test_cuts_of_the_worked_examples(histogram, min_size, min_width, cuts):
    assert histogram_cuts(histogram, min_size, min_width) == cuts


def test_cuts_of_synthetic_digits():
    pairs = digits(seed=10, size=128)
    lengths = pair_lengths(pairs, Vocabulary.from_texts(pairs.source, pairs.target, unknown="drop"))
    assert (lengths.min(), lengths.max()) == (8, 18)
    assert histogram_cuts(np.bincount(lengths), min_size=32, min_width=10) == [11]
    plan = plan_batches(lengths, batch_size=16)
    assert [(bucket.lower, bucket.upper) for bucket in plan.buckets] == [(0, 10), (11, 18)]
    assert sum(bucket.rows for bucket in plan.buckets) == 128


def test_without_buckets_synthetic_digits_have_eight_batches():
    pairs = digits(seed=10, size=128)
    lengths = pair_lengths(pairs, Vocabulary.from_texts(pairs.source, pairs.target))
    plan = plan_batches(lengths, batch_size=16, bucketing="none")
    assert (plan.num_batches, len(plan.buckets)) == (8, 1)


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
def test_cuts_against_the_plain_algorithm(histogram, min_size, min_width):
    cuts = histogram_cuts(histogram, min_size, min_width)
    assert cuts == plain_cuts(histogram, min_size, min_width)
    for left, right in zip([0, *cuts], [*cuts, len(histogram)], strict=True):
        assert not cuts or sum(histogram[left:right]) >= min_size
        assert right == len(histogram) or right - left >= min_width


@pytest.mark.parametrize(("min_size", "min_width"), [(0, 1), (1, 0), (-1, 5)])
def test_senseless_bucket_limits_are_refused(min_size, min_width):
    with pytest.raises(InputError, match="at least 1"):
        histogram_cuts([1, 2], min_size, min_width)


def test_pair_lengths_count_the_longer_side_its_end_and_composed_characters():
    pairs = Pairs(["abc", "", "u\u0308"], ["a", "abcd", ""])
    assert pair_lengths(pairs, Vocabulary("abcd")).tolist() == [4, 5, 2]
    assert pair_lengths(pairs, Vocabulary("ab", unknown="drop")).tolist() == [3, 3, 1]


plans = st.builds(
    plan_batches,
    lengths=st.lists(st.integers(1, 80), min_size=1, max_size=150).map(np.array),
    batch_size=st.integers(1, 20),
    batch_chars=st.none() | st.integers(1, 800),
    min_size=st.none() | st.integers(1, 30),
    min_width=st.integers(1, 15),
    replicas=st.integers(1, 4),
    bucketing=st.sampled_from(["histogram", "none"]),
    shuffle=st.sampled_from(["corpus", "buffer", "none"]),
    shuffle_buffer=st.integers(1, 50),
)


@given(plans, st.integers(0, 2**31), st.integers(0, 5))
def test_every_epoch_holds_every_pair_once_in_few_shapes(plan, seed, epoch):
    batches = plan.epoch(seed, epoch)
    assert len(batches) == plan.num_batches
    rows = np.concatenate([batch.indices for batch in batches])
    assert sorted(rows[rows >= 0]) == list(range(len(plan.lengths)))
    shapes = {(batch.length, len(batch.indices)) for batch in batches}
    assert shapes == {(bucket.upper, bucket.batch_size) for bucket in plan.buckets}
    for batch in batches:
        real = batch.indices[batch.indices >= 0]
        assert plan.lengths[real].max() <= batch.length
        assert batch.indices.dtype == np.int32


@given(plans)
def test_the_numbers_of_a_plan_are_those_of_its_batches(plan):
    batches = plan.epoch(seed=1, epoch=0)
    positions = sum(batch.length * len(batch.indices) for batch in batches)
    assert plan.padding_share == pytest.approx(1 - plan.lengths.sum() / positions)
    for bucket in plan.buckets:
        inside = plan.lengths[(plan.lengths >= bucket.lower) & (plan.lengths <= bucket.upper)]
        assert (bucket.rows, bucket.upper) == (len(inside), inside.max())
        area = bucket.batches * bucket.batch_size * bucket.upper
        assert bucket.padding_share == pytest.approx(1 - inside.sum() / area)
        assert sum(batch.length == bucket.upper for batch in batches) == bucket.batches


@given(plans)
def test_every_replica_has_its_part_of_every_batch(plan):
    for batch in plan.epoch(seed=1, epoch=0):
        shares = (batch.indices.reshape(plan.replicas, -1) >= 0).sum(axis=1)
        assert shares.max() - shares.min() <= 1


@given(plans, st.integers(0, 2**31), st.integers(0, 5))
def test_an_epoch_is_a_function_of_seed_and_number(plan, seed, epoch):
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


def test_whole_corpus_shuffle_carries_pairs_anywhere():
    plan = plan_batches(np.full(1000, 5), batch_size=10)
    places = [order_of(plan, 0, epoch).index(0) for epoch in range(40)]
    assert min(places) < 250
    assert max(places) > 750


def test_buffer_shuffle_keeps_to_its_buffer():
    plan = plan_batches(np.full(1000, 5), batch_size=10, shuffle="buffer", shuffle_buffer=50)
    order = order_of(plan, 0, 0)
    assert all(pair < place + 50 for place, pair in enumerate(order))
    assert order != sorted(order)
    assert plan_batches(np.full(9, 5), batch_size=9, shuffle="buffer", shuffle_buffer=1).epoch(0, 0)[
        0
    ].indices.tolist() == list(range(9))


def test_without_shuffle_batches_come_in_the_order_in_which_they_fill():
    lengths = np.array([9, 2, 2, 9, 9, 2, 9, 2, 9])
    plan = plan_batches(lengths, batch_size=2, min_size=2, min_width=3, shuffle="none")
    batches = [(batch.length, batch.indices.tolist()) for batch in plan.epoch(0, 0)]
    assert batches == [(2, [1, 2]), (9, [0, 3]), (9, [4, 6]), (2, [5, 7]), (9, [8, -1])]


def test_a_budget_of_characters():
    lengths = np.array([10] * 50 + [100] * 50)
    plan = plan_batches(lengths, batch_chars=450, min_size=10, replicas=2)
    assert [(bucket.upper, bucket.batch_size) for bucket in plan.buckets] == [(10, 44), (100, 4)]
    for bucket in plan.buckets:
        assert bucket.upper * bucket.batch_size <= 450
    tight = plan_batches(lengths, batch_chars=30, min_size=10, replicas=2)
    assert [bucket.batch_size for bucket in tight.buckets] == [2, 2]


def test_batch_sizes_are_multiples_of_the_replicas():
    plan = plan_batches(np.full(100, 5), batch_size=10, replicas=4)
    assert [bucket.batch_size for bucket in plan.buckets] == [12]


def test_a_bucket_smaller_than_a_batch_gets_a_smaller_batch():
    plan = plan_batches(np.full(5, 7), batch_size=32, replicas=2)
    assert [(bucket.batch_size, bucket.batches) for bucket in plan.buckets] == [(6, 1)]


@pytest.mark.parametrize(
    ("rows", "batch_size", "replicas", "expected"),
    [
        ([7, 8, 9], 6, 2, [7, 8, -1, 9, -1, -1]),
        ([7, 8], 6, 3, [7, -1, 8, -1, -1, -1]),
        ([1, 2, 3, 4], 4, 2, [1, 2, 3, 4]),
        ([1], 2, 1, [1, -1]),
    ],
)
def test_filler_rows_are_spread(rows, batch_size, replicas, expected):
    assert fill_rows(np.array(rows, np.int32), batch_size, replicas).tolist() == expected


def test_plan_from_config():
    lengths = np.arange(1, 200)
    config = DataConfig(
        batch_size=7,
        bucket_min_size=20,
        bucket_min_width=5,
        shuffle="buffer",
        shuffle_buffer=9,
        batch_chars=900,
    )
    plan = plan_from_config(lengths, config, replicas=2)
    assert plan.buckets == plan_batches(lengths, 7, 900, 20, 5, replicas=2).buckets
    assert (plan.shuffle, plan.shuffle_buffer, plan.replicas) == ("buffer", 9, 2)
    whole = plan_from_config(lengths, DataConfig(batch_size=7, bucketing="none"))
    assert whole.buckets == plan_batches(lengths, 7, bucketing="none").buckets


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"batch_size": 0}, "batch_size = 0"),
        ({"batch_chars": 0}, "batch_chars = 0"),
        ({"replicas": 0}, "replicas = 0"),
        ({"shuffle_buffer": 0}, "shuffle_buffer = 0"),
        ({"bucketing": "even"}, "'even'.*histogram, none"),
        ({"shuffle": "all"}, "'all'.*corpus, buffer, none"),
        ({"lengths": np.array([], int)}, "no pairs"),
        ({"lengths": np.array([3, 0])}, "found 0"),
    ],
)
def test_senseless_settings_are_refused(settings, named):
    with pytest.raises(InputError, match=named):
        plan_batches(**{"lengths": np.array([3, 4]), **settings})
