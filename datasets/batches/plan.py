"""The batches of every epoch, decided in advance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bytenet.datasets.batches.epoch_shapes import Bucket, EpochShapes

Shuffle = Literal["corpus", "buffer", "none"]

FILLER = -1


@dataclass(frozen=True)
class PlannedBatch:
    """One batch that is still to be made.

    Attributes:
        length: padded length of both sides.
        indices: int32 `(batch_size,)`: which pairs; -1 is a filler row without a pair.
    """

    length: int
    indices: np.ndarray


def length_groups(lengths: np.ndarray, padded_lengths: Sequence[int]) -> list[tuple[int, np.ndarray]]:
    """Group pairs by the padded lengths of the training.

    Args:
        lengths: int `(pairs,)`, the length of each pair.
        padded_lengths: of the training's batches, ascending. Pairs that are longer than all join the last group.

    Returns:
        For each group that is not empty, from short to long: the length to pad to, and the indices of the pairs,
        ascending.
    """
    numbers = np.minimum(np.searchsorted(padded_lengths, lengths), len(padded_lengths) - 1)
    groups = []
    for number in np.unique(numbers):
        members = np.flatnonzero(numbers == number).astype(np.int32)
        groups.append((max(int(padded_lengths[number]), int(lengths[members].max())), members))
    return groups


@dataclass(frozen=True, eq=False)
class BatchPlan(EpochShapes):
    """All batches of any epoch, a pure function of the seed and the epoch's number.

    `plan_batches` makes it. Every epoch has every pair once. All batches of a bucket have one shape: the last one is
    completed with filler rows. With shuffling, its pairs change from epoch to epoch.

    With shuffling, the first batch of epoch 0 has the largest shape, so that a run that does not fit into memory fails
    at its first step.

    Attributes:
        lengths: int32 `(pairs,)`, the length of each pair.
        shuffle: "corpus": every epoch has a new order of the whole corpus and of the batches. "buffer", the thesis's
            rule: pairs are drawn from the corpus through a random buffer, and batches come in the order in which they
            are full. "none": the same without the random buffer, in the order of the corpus.
        shuffle_buffer: number of pairs in the buffer.
    """

    lengths: np.ndarray
    shuffle: Shuffle
    shuffle_buffer: int

    @property
    def settings(self) -> str:
        """The settings that, together with seed and pairs, decide the batches and their order."""
        return self.text_with(self.shuffle, self.shuffle_buffer)

    def epoch(self, seed: int, epoch: int) -> list[PlannedBatch]:
        """The batches of one epoch in order, `num_batches` of them."""
        random = np.random.default_rng([seed, epoch])
        order = self._order(random)
        # Places in that order, sorted by bucket: 16 bits are sorted in one pass over the pairs.
        uppers = [bucket.upper for bucket in self.buckets]
        bucket_numbers = np.searchsorted(uppers, self.lengths).astype(np.int16)[order]
        places_by_bucket = np.argsort(bucket_numbers, kind="stable")
        batches: list[PlannedBatch] = []
        filled_at: list[int] = []
        begin = 0
        for bucket in self.buckets:
            places = places_by_bucket[begin : begin + bucket.pairs]
            begin += bucket.pairs
            size, full = bucket.batch_size, bucket.pairs // bucket.batch_size
            for indices in order[places[: full * size]].reshape(full, size):
                batches.append(PlannedBatch(bucket.length, indices))
            filled_at += places[size - 1 :: size].tolist()
            if full < bucket.batches:
                rest = order[places[full * size :]]
                batches.append(PlannedBatch(bucket.length, fill_rows(rest, size, self.replicas)))
                filled_at.append(len(order))  # it is never full, so it comes after the last pair was read
        if self.shuffle == "corpus":
            sequence = random.permutation(len(batches))
        else:
            sequence = np.argsort(filled_at, kind="stable")
        ordered = [batches[place] for place in sequence]
        if epoch == 0 and self.shuffle != "none":
            move_to_the_front(self.largest_bucket, ordered)
        return ordered

    def _order(self, random: np.random.Generator) -> np.ndarray:
        """int32 `(pairs,)`: the order in which the pairs are read."""
        if self.shuffle == "none":
            return np.arange(len(self.lengths), dtype=np.int32)
        if self.shuffle == "buffer":
            return _through_buffer(len(self.lengths), self.shuffle_buffer, random)
        return random.permutation(len(self.lengths)).astype(np.int32)


def move_to_the_front(bucket: Bucket, batches: list[PlannedBatch]) -> None:
    """Move the first batch that has the shape of a bucket to the front."""
    shape = bucket.batch_size, bucket.length
    place = next(place for place, batch in enumerate(batches) if (len(batch.indices), batch.length) == shape)
    batches.insert(0, batches.pop(place))


def fill_rows(indices: np.ndarray, batch_size: int, replicas: int = 1) -> np.ndarray:
    """Spread `indices` over the rows of a batch so that all replicas get about the same number.

    Args:
        indices: int32 `(n,)`, n at most `batch_size`.
        batch_size: a multiple of `replicas`.
        replicas: number of contiguous blocks.

    Returns:
        int32 `(batch_size,)`: the indices in order, with -1 at the end of each block that is not full. The numbers of
        indices in two blocks differ by at most one.
    """
    rows = np.full((replicas, batch_size // replicas), FILLER, np.int32)
    for block, part in zip(rows, np.array_split(indices, replicas), strict=True):
        block[: len(part)] = part
    return rows.reshape(-1)


def _through_buffer(count: int, buffer_size: int, random: np.random.Generator) -> np.ndarray:
    """0 to `count - 1`, drawn one by one from a buffer that is refilled in order, as tf.data's `shuffle` does."""
    buffer = list(range(min(buffer_size, count)))
    order = np.empty(count, np.int32)
    draws = random.random(count)
    for place in range(count):
        slot = int(draws[place] * len(buffer))
        order[place] = buffer[slot]
        following = place + buffer_size
        if following < count:
            buffer[slot] = following
        else:
            buffer[slot] = buffer[-1]
            buffer.pop()
    return order
