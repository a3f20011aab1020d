"""The batches of every epoch over shards, decided from the side files alone.

A shard is a small corpus: a random sample of the whole one. An epoch goes through the shards in a random order. The
pairs of a shard are shuffled as a whole and form batches of their own, so the number of batches of every shard, and of
an epoch, is known before any text is read, and a run can go on at any batch after reading one shard.

With several workers, each reads its own shards. Workers take one shard each at the same time, a group of shards, and
every batch has as many rows from each of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bytenet.datasets.batches.bucketing import bucket_settings, plan_buckets
from bytenet.datasets.batches.epoch_shapes import Bucket, EpochShapes
from bytenet.datasets.batches.plan import FILLER, PlannedBatch, fill_rows, move_to_the_front
from bytenet.datasets.shards.folder import ShardFolder
from bytenet.datasets.shards.side_file import LengthCounts, SideFile
from bytenet.errors import InputError

if TYPE_CHECKING:
    from bytenet.config import DataConfig


@dataclass(frozen=True)
class ShardVisit:
    """A group of shards in an epoch.

    Attributes:
        epoch: number of the epoch.
        group: number of the group: its shards are `group * workers` and the next ones.
        first_batch: number of the first batch of the group that is still to come.
    """

    epoch: int
    group: int
    first_batch: int


@dataclass(frozen=True, eq=False)
class GroupBatches:
    """The batches of a group of shards in their order.

    Attributes:
        batches: their `indices` count the pairs of all shards of the group, shard after shard.
        lengths: int64 `(pairs, 2)`, ids of source and target of those pairs, end symbol counted.
        offsets: int64 `(workers,)`, index of the first pair of each shard.
    """

    batches: list[PlannedBatch]
    lengths: np.ndarray
    offsets: np.ndarray


@dataclass(frozen=True, eq=False)
class ShardPlan(EpochShapes):
    """All batches of any epoch, a pure function of the seed and the epoch's number.

    `plan_shards` makes it. Every epoch has every pair within the limits once. The first batch of epoch 0 has the
    largest shape, so that a run that does not fit into memory fails at its first step.

    Attributes:
        shards: their side files.
        workers: number of shards that are read at the same time.
        limits: least and largest number of characters on both sides.
        batches: int64 `(groups, buckets)`, number of batches of each group.
    """

    shards: tuple[SideFile, ...]
    workers: int
    limits: tuple[int, int]
    batches: np.ndarray

    def visits(self, seed: int, epoch: int = 0, batch: int = 0) -> Iterator[ShardVisit]:
        """All groups that are visited from a place on, without an end.

        Args:
            seed: of the order.
            epoch: of the first batch.
            batch: number of the first batch in that epoch.
        """
        while True:
            for group in self._order(seed, epoch):
                count = int(self.batches[group].sum())
                if batch < count:
                    yield ShardVisit(epoch, group, batch)
                batch = max(0, batch - count)
            epoch += 1

    def group_batches(self, seed: int, epoch: int, group: int) -> GroupBatches:
        """The batches of a group in an epoch. It reads the lengths of the group's pairs."""
        shards = range(group * self.workers, (group + 1) * self.workers)
        lengths = [self.shards[shard].pair_lengths() for shard in shards]
        offsets = np.cumsum([0, *map(len, lengths)])
        # By shard and bucket, the rows of all batches.
        rows = [
            [np.where(part < 0, FILLER, part + offset) for part in self._rows_of_shard(own, seed, epoch, shard)]
            for own, shard, offset in zip(lengths, shards, offsets[:-1], strict=True)
        ]
        batches = [
            PlannedBatch(bucket.length, indices.astype(np.int32))
            for bucket, *parts in zip(self.buckets, *rows, strict=True)
            for indices in np.concatenate(parts, axis=1)
        ]
        # The last number makes this draw independent of the draws for the groups and for the pairs.
        order = np.random.default_rng([seed, epoch, group, 1]).permutation(len(batches))
        ordered = [batches[place] for place in order]
        if epoch == 0 and group == self._order(seed, 0)[0]:
            move_to_the_front(self.largest_bucket, ordered)
        return GroupBatches(ordered, np.concatenate(lengths) + 1, offsets[:-1])

    def _order(self, seed: int, epoch: int) -> list[int]:
        """The groups in the order of an epoch."""
        order = np.random.default_rng([seed, epoch]).permutation(len(self.batches)).tolist()
        if epoch == 0:
            has_largest = self.batches[:, self.buckets.index(self.largest_bucket)] > 0
            order.insert(0, order.pop(next(place for place, group in enumerate(order) if has_largest[group])))
        return order

    def _rows_of_shard(self, lengths: np.ndarray, seed: int, epoch: int, shard: int) -> Iterator[np.ndarray]:
        """For each bucket, the shard's rows of all batches: int64 `(batches, rows)`, -1 for fillers."""
        order = np.random.default_rng([seed, epoch, shard, 2]).permutation(len(lengths))
        inside = (lengths[order] >= self.limits[0]) & (lengths[order] <= self.limits[1])
        order = order[inside.all(axis=1)]
        uppers = [bucket.upper for bucket in self.buckets]
        numbers = np.searchsorted(uppers, lengths[order].max(axis=1) + 1)
        for number, bucket in enumerate(self.buckets):
            members = order[numbers == number]
            size = bucket.batch_size // self.workers
            rows = np.full((self.batches[shard // self.workers, number], size), FILLER)
            full = len(members) // size
            rows[:full] = members[: full * size].reshape(full, size)
            if rest := len(members) % size:
                rows[full] = fill_rows(members[-rest:], size, self.replicas // self.workers)
            yield rows


def plan_shards(folder: ShardFolder, data_config: "DataConfig", replicas: int = 1, workers: int = 1) -> ShardPlan:
    """Plan the batches of a folder of shards from its side files.

    Args:
        folder: the shards.
        data_config: reads the limits of lengths and the settings of batches and buckets from it.
        replicas: number of devices that share each batch, those of all workers together.
        workers: number of workers that read different shards; it divides the numbers of shards and replicas.

    Raises:
        InputError: no pair is within the limits, or a setting or number is not allowed.
    """
    for what, number in (("shards", len(folder.shards)), ("replicas", replicas)):
        if number % workers:
            raise InputError(
                f"{workers} workers cannot share {number} {what} evenly. Choose a number of workers that divides it"
                + (", or shard the corpus again with another --shards." if what == "shards" else ".")
            )
    limits = data_config.min_length, data_config.max_length
    by_shard = [_histogram(shard.lengths, *limits) for shard in folder.shards]
    width = max(map(len, by_shard))
    histograms = np.array([np.pad(one, (0, width - len(one))) for one in by_shard])  # (shards, lengths)
    total = histograms.sum(axis=0)
    if not total.sum():
        raise InputError(
            f"None of the {len(folder):,} pairs in {folder.path} has {limits[0]} to {limits[1]} characters on both "
            "sides. Change data.min_length or data.max_length."
        )
    buckets = plan_buckets(
        total, replicas=replicas, parts=len(folder.shards) // workers, **bucket_settings(data_config)
    )
    batches = np.stack([_batches(histograms, bucket, workers) for bucket in buckets], axis=1)
    counted = tuple(
        _with_batches(bucket, int(count), total) for bucket, count in zip(buckets, batches.sum(axis=0), strict=True)
    )
    return ShardPlan(counted, replicas, tuple(folder.shards), workers, limits, batches)


def is_within(lengths: LengthCounts, least: int, most: int) -> np.ndarray:
    """bool `(n,)`: which pairs of lengths have both sides within limits."""
    shorter, longer = np.minimum(lengths.source, lengths.target), np.maximum(lengths.source, lengths.target)
    return (shorter >= least) & (longer <= most)


def _histogram(lengths: LengthCounts, least: int, most: int) -> np.ndarray:
    """int64 `(longest + 1,)`: number of pairs within the limits by their length, end symbol counted."""
    longer = np.maximum(lengths.source, lengths.target) + 1
    return np.bincount(longer, lengths.pairs * is_within(lengths, least, most)).astype(np.int64)


def _batches(histograms: np.ndarray, bucket: Bucket, workers: int) -> np.ndarray:
    """int64 `(groups,)`: number of batches that a bucket has in each group, as the fullest of its shards needs."""
    pairs = histograms[:, bucket.lower : bucket.upper + 1].sum(axis=1)
    batches = -(-pairs // (bucket.batch_size // workers))
    return batches.reshape(-1, workers).max(axis=1)


def _with_batches(bucket: Bucket, count: int, histogram: np.ndarray) -> Bucket:
    lengths = np.arange(bucket.lower, bucket.upper + 1)
    real = int(histogram[lengths] @ lengths)
    return replace(bucket, batches=count, padding_share=1 - real / (count * bucket.batch_size * bucket.length))
