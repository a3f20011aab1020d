"""The shapes of an epoch's batches, without the pairs that are in them."""

from collections import Counter
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bucket:
    """Pairs of similar length, and how they are batched.

    Attributes:
        lower: the shortest pair length that belongs to the bucket.
        upper: the length of the longest of its pairs.
        length: padded length of all its pairs: `upper`, or the next multiple of `pad_to_multiple_of`.
        pairs: number of pairs.
        batch_size: rows of each batch, filler rows counted.
        batches: number of batches an epoch.
        padding_share: share of the padded positions that lie beyond the longer side of their pair. Filler rows count as
            padding. The additional padding of the shorter side is not counted.
    """

    lower: int
    upper: int
    length: int
    pairs: int
    batch_size: int
    batches: int
    padding_share: float


@dataclass(frozen=True, eq=False)
class EpochShapes:
    """Number and shapes of the batches of every epoch.

    Attributes:
        buckets: from short to long.
        replicas: number of equal blocks of rows that every batch is split into.
    """

    buckets: tuple[Bucket, ...]
    replicas: int

    def text_with(self, *settings: object) -> str:
        """Buckets, replicas and more settings as text for digests. Checkpoints keep these, so it must not change."""
        return repr((self.buckets, self.replicas, *settings)).replace(" pairs=", " rows=")  # their name at first

    @property
    def num_batches(self) -> int:
        """Batches an epoch."""
        return sum(bucket.batches for bucket in self.buckets)

    @property
    def shapes(self) -> dict[tuple[int, int], int]:
        """Number of batches an epoch by their shape (rows, padded length), from short to long."""
        counts: Counter[tuple[int, int]] = Counter()
        for bucket in self.buckets:
            counts[bucket.batch_size, bucket.length] += bucket.batches
        return dict(counts)

    @property
    def padded_lengths(self) -> list[int]:
        """The padded lengths of all batches, ascending."""
        return sorted({bucket.length for bucket in self.buckets})

    def describe_shapes(self) -> str:
        """The shapes of the batches in words: "2 batch shapes: 8 x 9, 8 x 18"."""
        shapes = ", ".join(f"{rows} x {length}" for rows, length in self.shapes)
        return f"{len(self.shapes)} batch shapes: {shapes}"

    @property
    def padding_share(self) -> float:
        """Share of all padded positions that lie beyond their pair's length. Filler rows count as padding."""
        positions = [bucket.batches * bucket.batch_size * bucket.length for bucket in self.buckets]
        padding = sum(number * bucket.padding_share for number, bucket in zip(positions, self.buckets, strict=True))
        return padding / sum(positions)

    @property
    def largest_bucket(self) -> Bucket:
        """The bucket with the most positions a batch, which needs the most memory; of equal ones the longest."""
        return max(self.buckets, key=lambda bucket: (bucket.batch_size * bucket.length, bucket.length))


def round_up(number: Any, multiple: Any) -> Any:
    """The smallest multiple that is not below a number; for integers or arrays of them."""
    return -(-number // multiple) * multiple
