"""Which sentences go into which batch: buckets of like length, one padded shape each.

The histogram partitioner is the thesis's Algorithm 4; the slips of the printed version (`length` for the
right end of the interval, the accepting bin left out of the count) are resolved as its published code
resolves them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from bytenet.datasets.parallel import Pairs
from bytenet.datasets.vocabulary import Vocabulary
from bytenet.errors import InputError

Bucketing = Literal["histogram", "none"]
Shuffle = Literal["corpus", "buffer", "none"]

FILLER = -1


def histogram_cuts(histogram: Sequence[int] | np.ndarray, min_size: int, min_width: int) -> list[int]:
    """Cut a histogram of lengths into buckets that are neither too narrow nor too sparse.

    Args:
        histogram: number of pairs of length 0, 1, 2, ...
        min_size: fewest pairs in a bucket.
        min_width: fewest lengths in a bucket; the last may be narrower.

    Returns:
        Exclusive upper bounds, ascending: cuts [a, b] make the buckets below a, a to b - 1, and b or more.
        No cuts where all together are one bucket.

    Raises:
        InputError: `min_size` or `min_width` is below 1.

    Reference:
        Madsen 2017, Algorithm 4.
    """
    if min_size < 1 or min_width < 1:
        raise InputError(f"A bucket needs at least 1 pair and 1 length; found {min_size} and {min_width}.")
    # below[n] is the number of pairs shorter than n.
    below = np.concatenate([[0], np.cumsum(histogram)])
    cuts: list[int] = []
    left, cut = 0, min(min_width, len(histogram))
    while cut < len(histogram):
        if below[cut] - below[left] < min_size:
            cut += 1
        else:
            cuts.append(cut)
            left, cut = cut, cut + min_width
    if cuts and below[-1] - below[left] < min_size:
        cuts.pop()  # too few are left for a bucket of their own: they join the one before
    return cuts


@dataclass(frozen=True)
class Bucket:
    """Pairs of like length, and how they are batched.

    Attributes:
        lower: shortest pair length that falls into the bucket.
        upper: the longest length among its pairs, to which all are padded.
        rows: number of pairs.
        batch_size: rows of each batch, fillers counted.
        batches: number of batches an epoch.
        padding_share: share of the padded positions, filler rows counted, that lie beyond their pair's length
            (the longer side's; the shorter side has more).
    """

    lower: int
    upper: int
    rows: int
    batch_size: int
    batches: int
    padding_share: float


@dataclass(frozen=True)
class PlannedBatch:
    """One batch to be made.

    Attributes:
        length: padded length of both sides.
        indices: int32 `(batch_size,)`, which pairs; -1 for a filler row without a pair.
    """

    length: int
    indices: np.ndarray


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """All batches of any epoch, a pure function of the seed and the epoch's number.

    Made by `plan_batches`. Every epoch holds every pair once. All batches of a bucket have one shape: the
    last is filled up with filler rows, and which pairs are in it changes from epoch to epoch when shuffled.

    Attributes:
        lengths: int32 `(pairs,)`, the pair lengths it was planned for.
        buckets: from short to long.
        replicas: number of equal blocks of rows that every batch will be dealt into.
        shuffle: "corpus": a new order of the whole corpus each epoch, and of the batches; "buffer": the
            thesis's, corpus order drawn through a random buffer, batches in the order in which they fill;
            "none": corpus order, batches in the order in which they fill.
        shuffle_buffer: pairs in that buffer.
    """

    lengths: np.ndarray
    buckets: tuple[Bucket, ...]
    replicas: int
    shuffle: Shuffle
    shuffle_buffer: int

    @property
    def num_batches(self) -> int:
        """Batches an epoch."""
        return sum(bucket.batches for bucket in self.buckets)

    @property
    def padding_share(self) -> float:
        """Share of all padded positions that lie beyond their pair's length; fillers count as padding."""
        positions = sum(bucket.batches * bucket.batch_size * bucket.upper for bucket in self.buckets)
        return 1 - int(self.lengths.sum(dtype=np.int64)) / positions

    def epoch(self, seed: int, epoch: int) -> list[PlannedBatch]:
        """The batches of one epoch in order, `num_batches` of them."""
        random = np.random.default_rng([seed, epoch])
        order = self._order(random)
        ordered_lengths = self.lengths[order]
        batches: list[PlannedBatch] = []
        filled_at: list[int] = []
        for bucket in self.buckets:
            places = np.flatnonzero((ordered_lengths >= bucket.lower) & (ordered_lengths <= bucket.upper))
            for start in range(0, len(places), bucket.batch_size):
                chosen = places[start : start + bucket.batch_size]
                indices = fill_rows(order[chosen], bucket.batch_size, self.replicas)
                batches.append(PlannedBatch(bucket.upper, indices))
                # A batch that never fills is sent off after the last pair was read.
                full = len(chosen) == bucket.batch_size
                filled_at.append(int(chosen[-1]) if full else len(order))
        if self.shuffle == "corpus":
            sequence = random.permutation(len(batches))
        else:
            sequence = np.argsort(filled_at, kind="stable")
        return [batches[place] for place in sequence]

    def _order(self, random: np.random.Generator) -> np.ndarray:
        """int32 `(pairs,)`: the order in which the pairs are read."""
        if self.shuffle == "none":
            return np.arange(len(self.lengths), dtype=np.int32)
        if self.shuffle == "buffer":
            return _through_buffer(len(self.lengths), self.shuffle_buffer, random)
        return random.permutation(len(self.lengths)).astype(np.int32)


def pair_lengths(pairs: Pairs, vocabulary: Vocabulary) -> np.ndarray:
    """int32 `(pairs,)`: ids of the longer side of each pair, end symbol counted."""
    length = vocabulary.encoded_length
    both = zip(pairs.source, pairs.target, strict=True)
    return np.fromiter((max(length(source), length(target)) for source, target in both), np.int32, len(pairs))


def plan_batches(
    lengths: np.ndarray,
    batch_size: int = 32,
    batch_chars: int | None = None,
    min_size: int | None = None,
    min_width: int = 10,
    replicas: int = 1,
    bucketing: Bucketing = "histogram",
    shuffle: Shuffle = "corpus",
    shuffle_buffer: int = 8192,
) -> BatchPlan:
    """Plan the batches of a corpus.

    Args:
        lengths: int `(pairs,)`, each the longer side of a pair, end symbol counted.
        batch_size: pairs in a batch; rounded up to a multiple of `replicas`.
        batch_chars: instead of `batch_size`, the most padded target characters in a batch, so that a bucket's
            batch size is `batch_chars // padded length`, rounded down to a multiple of `replicas` but at
            least one row a replica.
        min_size: fewest pairs in a bucket; None means twice the batch size (of a pair of middling length,
            where that is given by `batch_chars`).
        min_width: fewest lengths in a bucket.
        replicas: number of devices that share each batch in contiguous blocks of equally many rows.
        bucketing: "histogram" for `histogram_cuts`, "none" for a single bucket.
        shuffle: see `BatchPlan`.
        shuffle_buffer: see `BatchPlan`.

    Raises:
        InputError: no pairs, or a setting that is not allowed.
    """
    lengths = np.asarray(lengths, np.int32)
    _check_settings(lengths, batch_size, batch_chars, replicas, bucketing, shuffle, shuffle_buffer)
    cuts: list[int] = []
    if bucketing == "histogram":
        if min_size is None:
            min_size = 2 * (batch_size if batch_chars is None else max(1, batch_chars // int(np.median(lengths))))
        cuts = histogram_cuts(np.bincount(lengths), min_size, min_width)
    buckets = []
    for lower, end in zip([0, *cuts], [*cuts, int(lengths.max()) + 1], strict=True):
        inside = lengths[(lengths >= lower) & (lengths < end)]
        upper = int(inside.max())
        if batch_chars is None:
            size = -(-batch_size // replicas) * replicas
        else:
            size = max(1, batch_chars // upper // replicas) * replicas
        # A bucket that does not fill one batch gets a smaller one.
        size = min(size, -(-len(inside) // replicas) * replicas)
        batches = -(-len(inside) // size)
        padding_share = 1 - int(inside.sum(dtype=np.int64)) / (batches * size * upper)
        buckets.append(Bucket(lower, upper, len(inside), size, batches, padding_share))
    return BatchPlan(lengths, tuple(buckets), replicas, shuffle, shuffle_buffer)


def plan_from_config(lengths: np.ndarray, data_config: Any, replicas: int = 1) -> BatchPlan:
    """`plan_batches` with the settings of a `DataConfig`."""
    return plan_batches(
        lengths,
        batch_size=data_config.batch_size,
        batch_chars=data_config.batch_chars,
        min_size=data_config.bucket_min_size,
        min_width=data_config.bucket_min_width,
        replicas=replicas,
        bucketing=data_config.bucketing,
        shuffle=data_config.shuffle,
        shuffle_buffer=data_config.shuffle_buffer,
    )


def fill_rows(indices: np.ndarray, batch_size: int, replicas: int = 1) -> np.ndarray:
    """Spread `indices` over the rows of a batch, so that each replica's block has its part of them.

    Args:
        indices: int32 `(n,)`, n at most `batch_size`.
        batch_size: a multiple of `replicas`.
        replicas: number of contiguous blocks.

    Returns:
        int32 `(batch_size,)`: in order, -1 at the end of each block that is not full; the numbers of indices
        in two blocks differ by one at most.
    """
    rows = np.full((replicas, batch_size // replicas), FILLER, np.int32)
    for block, part in zip(rows, np.array_split(indices, replicas), strict=True):
        block[: len(part)] = part
    return rows.reshape(-1)


def _through_buffer(count: int, buffer_size: int, random: np.random.Generator) -> np.ndarray:
    """0 to `count - 1`, drawn one by one from a buffer that is filled up in order (tf.data's `shuffle`)."""
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


def _check_settings(
    lengths: np.ndarray,
    batch_size: int,
    batch_chars: int | None,
    replicas: int,
    bucketing: str,
    shuffle: str,
    shuffle_buffer: int,
) -> None:
    if len(lengths) == 0:
        raise InputError("There are no pairs to make batches of.")
    if lengths.min() < 1:
        raise InputError(f"A pair's length is at least 1, its end symbol; found {lengths.min()}.")
    numbers = {"batch_size": batch_size, "replicas": replicas, "shuffle_buffer": shuffle_buffer}
    if batch_chars is not None:
        numbers["batch_chars"] = batch_chars
    for name, value in numbers.items():
        if value < 1:
            raise InputError(f"{name} = {value}; expected at least 1.")
    for name, value, allowed in (("bucketing", bucketing, Bucketing), ("shuffle", shuffle, Shuffle)):
        if value not in get_args(allowed):
            raise InputError(f"{name} = {value!r}; expected one of {', '.join(get_args(allowed))}.")
