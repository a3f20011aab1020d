"""Buckets and batches made from lengths and settings."""

from itertools import pairwise

import numpy as np
import pytest

from bytenet.config import DataConfig
from bytenet.datasets.batches.bucketing import plan_batches, plan_from_config
from bytenet.datasets.batches.lengths import pair_lengths
from bytenet.datasets.batches.partition import histogram_cuts
from bytenet.datasets.corpora import digits
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import InputError


def test_synthetic_digits_are_cut_into_two_buckets():
    pairs = digits(seed=10, size=128)
    lengths = pair_lengths(pairs, Vocabulary.from_texts(pairs.source, pairs.target, unknown="drop"))
    assert (lengths.min(), lengths.max()) == (8, 18)
    assert histogram_cuts(np.bincount(lengths), min_size=32, min_width=10) == [11]
    plan = plan_batches(lengths, batch_size=16, bucketing="histogram")
    assert [(bucket.lower, bucket.upper) for bucket in plan.buckets] == [(0, 10), (11, 18)]
    assert sum(bucket.pairs for bucket in plan.buckets) == 128


def test_without_buckets_synthetic_digits_have_eight_batches():
    pairs = digits(seed=10, size=128)
    lengths = pair_lengths(pairs, Vocabulary.from_texts(pairs.source, pairs.target))
    plan = plan_batches(lengths, batch_size=16, bucketing="none")
    assert (plan.num_batches, len(plan.buckets)) == (8, 1)


def test_pair_length_counts_the_longer_side_in_nfc_with_end_symbol():
    pairs = Pairs(["abc", "", "u\u0308"], ["a", "abcd", ""])
    assert pair_lengths(pairs, Vocabulary("abcd")).tolist() == [4, 5, 2]
    assert pair_lengths(pairs, Vocabulary("ab", unknown="drop")).tolist() == [3, 3, 1]


def test_character_budget_sets_the_batch_size_of_each_bucket():
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


def test_plan_from_config_equals_a_plan_with_the_same_settings():
    lengths = np.arange(1, 200)
    config = DataConfig(
        batch_size=7,
        bucketing="histogram",
        bucket_min_size=20,
        bucket_min_width=5,
        shuffle="buffer",
        shuffle_buffer=9,
        batch_chars=900,
        pad_to_multiple_of=4,
    )
    plan = plan_from_config(lengths, config, replicas=2)
    like = plan_batches(lengths, 7, 900, 20, 5, replicas=2, bucketing="histogram", pad_to_multiple_of=4)
    assert plan.buckets == like.buckets
    assert (plan.shuffle, plan.shuffle_buffer, plan.replicas) == ("buffer", 9, 2)
    whole = plan_from_config(lengths, DataConfig(batch_size=7, bucketing="none"))
    assert whole.buckets == plan_batches(lengths, 7, bucketing="none").buckets

    few = plan_from_config(lengths, DataConfig(num_buckets=3))
    assert few.buckets == plan_batches(lengths, num_buckets=3).buckets
    changed = plan_from_config(lengths, DataConfig(num_buckets=3), bucketing="none")
    assert len(changed.buckets) == 1


def test_bucket_lengths_are_padded_to_multiples():
    lengths = np.random.default_rng(2).integers(1, 60, 400)
    for bucketing in ("optimal", "histogram", "fixed_width", "none"):
        plan = plan_batches(lengths, bucketing=bucketing, num_buckets=4, pad_to_multiple_of=7)
        assert len(plan.buckets) > 1 or bucketing == "none"
        assert plan.padded_lengths[-1] == 63
        for bucket in plan.buckets:
            assert bucket.length == -(-bucket.upper // 7) * 7


def test_padding_to_multiples_does_not_change_histogram_batches():
    lengths = np.random.default_rng(3).integers(1, 60, 400)
    plan, padded = (plan_batches(lengths, bucketing="histogram", pad_to_multiple_of=size) for size in (1, 7))
    for batch, other in zip(plan.epoch(seed=1, epoch=0)[1:], padded.epoch(seed=1, epoch=0)[1:], strict=True):
        assert batch.indices.tolist() == other.indices.tolist()


def test_character_budget_counts_padded_lengths():
    plan = plan_batches(np.full(90, 10), batch_chars=450, pad_to_multiple_of=15)
    assert plan.shapes == {(30, 15): 3}


def test_digits_padded_to_nine_have_the_same_shapes_for_all_seeds():
    shapes, as_they_are = set(), set()
    for seed in (10, 20, 30, 40, 50):
        for size in (64, 128, 256):
            pairs = digits(seed=seed, size=size)
            lengths = pair_lengths(pairs, Vocabulary.from_pairs(pairs, DataConfig()))
            settings = {"batch_size": 8, "bucketing": "histogram"}
            shapes.update(plan_batches(lengths, **settings, pad_to_multiple_of=9).shapes)
            as_they_are.update(plan_batches(lengths, **settings).shapes)
    assert shapes == {(8, 9), (8, 18)}
    assert len(as_they_are) > 2


def test_optimal_buckets_pad_least_including_filler_rows():
    lengths = np.random.default_rng(0).gamma(4, 12, 700).astype(int) + 1
    shares = {}
    for bucketing in ("optimal", "histogram", "fixed_width", "none"):
        plan = plan_batches(lengths, batch_size=16, bucketing=bucketing)
        shares[bucketing] = plan.padding_share
        assert len(plan.buckets) <= len(plan_batches(lengths, batch_size=16, bucketing="histogram").buckets)
    assert shares["optimal"] < min(shares["histogram"], shares["fixed_width"]) < shares["none"]
    # Moving any single cut does not reduce the padding.
    best = plan_batches(lengths, batch_size=16, num_buckets=4, min_size=1)
    for moved in range(1, 4):
        for step in (-2, -1, 1, 2):
            bounds = [bucket.lower for bucket in best.buckets] + [lengths.max() + 1]
            bounds[moved] += step
            positions = 0
            for low, end in pairwise(bounds):
                inside = lengths[(lengths >= low) & (lengths < end)]
                positions += -(-len(inside) // 16) * 16 * inside.max()
            assert 1 - lengths.sum() / positions >= best.padding_share - 1e-12


def test_no_optimal_bucket_is_smaller_than_the_minimum_size():
    lengths = np.random.default_rng(1).integers(1, 60, 500)
    plan = plan_batches(lengths, batch_size=8, min_size=90, num_buckets=50)
    assert all(bucket.pairs >= 90 for bucket in plan.buckets)
    assert len(plan.buckets) > 3
    assert len(plan_batches(lengths, batch_size=8, min_size=1000).buckets) == 1


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"batch_size": 0}, "batch_size = 0"),
        ({"batch_chars": 0}, "batch_chars = 0"),
        ({"num_buckets": 0}, "num_buckets = 0"),
        ({"replicas": 0}, "replicas = 0"),
        ({"shuffle_buffer": 0}, "shuffle_buffer = 0"),
        ({"bucketing": "even"}, "'even'.*optimal, histogram, fixed_width, none"),
        ({"shuffle": "all"}, "'all'.*corpus, buffer, none"),
        ({"lengths": np.array([], int)}, "no pairs"),
        ({"lengths": np.array([3, 0])}, "found 0"),
    ],
)
def test_invalid_settings_are_refused(settings, named):
    with pytest.raises(InputError, match=named):
        plan_batches(**{"lengths": np.array([3, 4]), **settings})
