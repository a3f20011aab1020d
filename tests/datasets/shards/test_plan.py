"""The plan of batches over shards: every pair once an epoch, and a place in the data is found without reading text."""

from collections import Counter
from itertools import islice, pairwise

import numpy as np
import pytest

from bytenet.config import DataConfig
from bytenet.datasets.shards.plan import plan_shards
from bytenet.errors import InputError

CONFIG = DataConfig(batch_size=8, max_length=40, min_length=4, bucket_min_width=4, bucket_min_size=40)


def batches_of_epoch(plan, seed, epoch):
    """For each group visited in an epoch, its number and its batches."""
    groups = []
    for visit in plan.visits(seed, epoch):
        if visit.epoch > epoch:
            return groups
        assert visit.first_batch == 0
        groups.append((visit.group, plan.group_batches(seed, epoch, visit.group)))
    raise AssertionError


@pytest.mark.parametrize(("workers", "replicas"), [(1, 1), (1, 2), (2, 2), (4, 8)])
@pytest.mark.parametrize("epoch", [0, 3])
def test_every_epoch_has_every_pair_once_in_the_planned_shapes(shards, workers, replicas, epoch):
    plan = plan_shards(shards, CONFIG, replicas, workers)
    groups = batches_of_epoch(plan, 5, epoch)
    assert sorted(group for group, _ in groups) == list(range(4 // workers))
    shapes = Counter()
    for number, group in groups:
        own = [shard.pair_lengths() for shard in shards.shards[number * workers : (number + 1) * workers]]
        lengths = np.concatenate(own)
        np.testing.assert_array_equal(group.lengths, lengths + 1)
        np.testing.assert_array_equal(group.offsets, np.cumsum([0, *map(len, own)])[:-1])
        within = ((lengths >= 4) & (lengths <= 40)).all(axis=1)
        rows = np.concatenate([batch.indices for batch in group.batches])
        assert sorted(rows[rows >= 0]) == np.flatnonzero(within).tolist()
        for batch in group.batches:
            assert len(batch.indices) % replicas == 0
            real = batch.indices[batch.indices >= 0]
            assert group.lengths[real].max() <= batch.length
            # Every worker has rows of its own shard only.
            of_worker = np.searchsorted(group.offsets, batch.indices.reshape(workers, -1), side="right") - 1
            is_real = batch.indices.reshape(workers, -1) >= 0
            assert (of_worker == np.arange(workers)[:, None])[is_real].all()
            shapes[len(batch.indices), batch.length] += 1
    assert shapes == plan.shapes
    assert sum(len(group.batches) for _, group in groups) == plan.num_batches


def test_plan_statistics_match_its_batches(shards):
    plan = plan_shards(shards, CONFIG)
    positions = chars = 0
    for _, group in batches_of_epoch(plan, 1, 0):
        for batch in group.batches:
            positions += batch.length * len(batch.indices)
            chars += group.lengths[batch.indices[batch.indices >= 0]].max(axis=1).sum()
    assert plan.padding_share == pytest.approx(1 - chars / positions)
    assert len(plan.buckets) > 2


def test_the_order_changes_with_seed_and_epoch_alone(shards):
    plan, same = plan_shards(shards, CONFIG), plan_shards(shards, CONFIG)

    def rows(plan, seed, epoch, group):
        return [batch.indices.tolist() for batch in plan.group_batches(seed, epoch, group).batches]

    assert rows(plan, 1, 2, 3) == rows(same, 1, 2, 3)
    different = [rows(plan, *place) for place in ((1, 2, 3), (1, 3, 3), (2, 2, 3), (1, 2, 0))]
    assert all(one != other for one, other in pairwise(different))
    orders = {tuple(visit.group for visit in islice(plan.visits(seed, 1), 4)) for seed in range(20)}
    assert len(orders) > 5


@pytest.mark.parametrize("seed", range(5))
def test_the_first_batch_of_a_run_has_the_largest_shape(shards, seed):
    plan = plan_shards(shards, CONFIG)
    first = next(plan.visits(seed))
    batch = plan.group_batches(seed, 0, first.group).batches[0]
    assert (len(batch.indices), batch.length) == (plan.largest_bucket.batch_size, plan.largest_bucket.length)


def test_a_run_goes_on_at_any_place(shards):
    plan = plan_shards(shards, CONFIG)
    places = []
    for visit in islice(plan.visits(3), 9):
        count = int(plan.batches[visit.group].sum())
        places += [(visit.epoch, visit.group, batch) for batch in range(count)]
    for step in range(2 * plan.num_batches):
        visit = next(plan.visits(3, *divmod(step, plan.num_batches)))
        assert (visit.epoch, visit.group, visit.first_batch) == places[step]


def test_wrong_numbers_are_explained(shards):
    with pytest.raises(InputError, match="3 workers cannot share 4 shards evenly"):
        plan_shards(shards, CONFIG, replicas=3, workers=3)
    with pytest.raises(InputError, match="2 workers cannot share 3 replicas evenly"):
        plan_shards(shards, CONFIG, replicas=3, workers=2)
    with pytest.raises(InputError, match=r"None of the 600 pairs .* has 1 to 2 characters"):
        plan_shards(shards, DataConfig(max_length=2))
