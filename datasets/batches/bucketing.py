"""Which sentences form a batch: buckets of similar length, each with one padded shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bytenet.datasets.batches.epoch_shapes import Bucket, round_up
from bytenet.datasets.batches.partition import fixed_width_cuts, histogram_cuts, optimal_cuts
from bytenet.datasets.batches.plan import BatchPlan, Shuffle
from bytenet.errors import InputError

if TYPE_CHECKING:
    from bytenet.config import DataConfig

Bucketing = Literal["optimal", "histogram", "fixed_width", "none"]


@dataclass(frozen=True)
class _BatchRule:
    """The shape of a bucket's batches.

    The methods take the number of pairs in a bucket and the length of its longest pair: integers, or arrays of them
    for many buckets at once.
    """

    batch_size: int
    batch_chars: int | None
    replicas: int
    pad_to_multiple_of: int
    parts: int

    def length(self, longest: Any) -> Any:
        """The padded length."""
        return round_up(longest, self.pad_to_multiple_of)

    def rows(self, pairs: Any, longest: Any) -> Any:
        """Rows of each batch."""
        if self.batch_chars is None:
            size = round_up(self.batch_size, self.replicas)
        else:
            size = np.maximum(1, self.batch_chars // self.length(longest) // self.replicas) * self.replicas
        # A bucket that does not fill one batch gets a smaller one.
        return np.minimum(size, round_up(self._pairs_of_part(pairs), self.replicas))

    def positions(self, pairs: Any, longest: Any) -> Any:
        """Padded positions of all batches, those of filler rows counted."""
        rows = self.rows(pairs, longest)
        return self.parts * round_up(self._pairs_of_part(pairs), rows) * self.length(longest)

    def _pairs_of_part(self, pairs: Any) -> Any:
        return -(-pairs // self.parts)


def plan_batches(
    lengths: np.ndarray,
    batch_size: int = 32,
    batch_chars: int | None = None,
    min_size: int | None = None,
    min_width: int = 10,
    replicas: int = 1,
    bucketing: Bucketing = "optimal",
    num_buckets: int | None = None,
    pad_to_multiple_of: int = 1,
    shuffle: Shuffle = "corpus",
    shuffle_buffer: int = 8192,
) -> BatchPlan:
    """Plan the batches of a corpus.

    Args:
        lengths: int `(pairs,)`, the length of the longer side of each pair, end symbol counted.
        batch_size: pairs in a batch, rounded up to a multiple of `replicas`; a bucket with fewer pairs gets a smaller
            batch.
        batch_chars: most padded target characters in a batch. It replaces `batch_size`: a bucket's batch size is
            `batch_chars // padded length`, rounded down to a multiple of `replicas`, but at least one row a replica.
        min_size: fewest pairs in a bucket. None means the pairs of two batches (with `batch_chars`: of two batches of
            pairs of the median length).
        min_width: fewest lengths in a bucket, for "histogram".
        replicas: number of devices that share each batch. Each gets a contiguous block of rows of the same size.
        bucketing: "optimal" makes at most `num_buckets` buckets with the least padding, filler rows counted.
            "histogram" uses `histogram_cuts`. "fixed_width" makes buckets of equal width without regard to `min_size`;
            it is for comparisons. "none" makes a single bucket.
        num_buckets: most buckets of "optimal" and "fixed_width"; None means the number of buckets of "histogram".
        pad_to_multiple_of: padded lengths are multiples of it, so that similar corpora have the same batch shapes.
        shuffle: see `BatchPlan`.
        shuffle_buffer: see `BatchPlan`.

    Raises:
        InputError: there are no pairs, or a setting is not allowed.
    """
    lengths = np.asarray(lengths, np.int32)
    _check_lengths(lengths)
    _check_numbers(shuffle_buffer=shuffle_buffer)
    _check_choice("shuffle", shuffle, get_args(Shuffle))
    buckets = plan_buckets(
        np.bincount(lengths), batch_size, batch_chars, min_size, min_width, replicas, bucketing, num_buckets,
        pad_to_multiple_of, parts=1,
    )  # fmt: skip
    return BatchPlan(buckets, replicas, lengths, shuffle, shuffle_buffer)


def plan_buckets(
    histogram: np.ndarray,
    batch_size: int,
    batch_chars: int | None,
    min_size: int | None,
    min_width: int,
    replicas: int,
    bucketing: Bucketing,
    num_buckets: int | None,
    pad_to_multiple_of: int,
    parts: int,
) -> tuple[Bucket, ...]:
    """Plan the buckets of a corpus from its histogram of lengths alone.

    Args:
        histogram: int `(longest + 1,)`, number of pairs by the length of the longer side, end symbol counted.
        batch_size, batch_chars, min_size, min_width, replicas, bucketing, num_buckets, pad_to_multiple_of: see
            `plan_batches`.
        parts: number of equal parts of the corpus. Each part has batches of its own, and its last ones are incomplete.
            If `min_size` is None, a bucket has at least the pairs of two batches of each part.

    Raises:
        InputError: a setting is not allowed.
    """
    _check_numbers(
        batch_size=batch_size, replicas=replicas, batch_chars=batch_chars, num_buckets=num_buckets,
        pad_to_multiple_of=pad_to_multiple_of,
    )  # fmt: skip
    _check_choice("bucketing", bucketing, get_args(Bucketing))
    if min_size is None:
        min_size = 2 * parts * (batch_size if batch_chars is None else max(1, batch_chars // int(_median(histogram))))
    rule = _BatchRule(batch_size, batch_chars, replicas, pad_to_multiple_of, parts)
    by_histogram = histogram_cuts(histogram, min_size, min_width)
    num_buckets = num_buckets or len(by_histogram) + 1
    cuts: list[int] = []
    if bucketing == "optimal":
        cuts = optimal_cuts(histogram, num_buckets, min_size, rule.positions)
    elif bucketing == "histogram":
        cuts = by_histogram
    elif bucketing == "fixed_width":
        cuts = fixed_width_cuts(histogram, num_buckets)
    return _make_buckets(histogram, cuts, rule)


def _median(histogram: np.ndarray) -> float:
    """The median length."""
    up_to = np.cumsum(histogram)
    middle = np.array([(up_to[-1] - 1) // 2, up_to[-1] // 2])
    return float(np.searchsorted(up_to, middle, side="right").mean())


def _make_buckets(histogram: np.ndarray, cuts: Sequence[int], rule: _BatchRule) -> tuple[Bucket, ...]:
    """The buckets between the cuts, without empty ones."""
    buckets = []
    for lower, end in zip([0, *cuts], [*cuts, len(histogram)], strict=True):
        inside = histogram[lower:end]
        pairs = int(inside.sum())
        if pairs == 0:
            continue
        longest = lower + int(np.flatnonzero(inside)[-1])
        length, batch_size = int(rule.length(longest)), int(rule.rows(pairs, longest))
        positions = int(rule.positions(pairs, longest))
        batches = positions // (batch_size * length)
        real = int(inside @ np.arange(lower, end))
        buckets.append(Bucket(lower, longest, length, pairs, batch_size, batches, 1 - real / positions))
    return tuple(buckets)


def plan_from_config(lengths: np.ndarray, data_config: "DataConfig", replicas: int = 1, **changes: Any) -> BatchPlan:
    """Plan the batches of a corpus by a configuration.

    Args:
        lengths: see `plan_batches`.
        data_config: reads the settings of batches, buckets and shuffling from it.
        replicas: see `plan_batches`.
        **changes: arguments of `plan_batches` that replace values of the configuration.

    Raises:
        InputError: see `plan_batches`.
    """
    shuffling = {"shuffle": data_config.shuffle, "shuffle_buffer": data_config.shuffle_buffer}
    return plan_batches(lengths, replicas=replicas, **bucket_settings(data_config) | shuffling | changes)


def bucket_settings(data_config: "DataConfig") -> dict[str, Any]:
    """The arguments of `plan_buckets` in a configuration."""
    return {
        "batch_size": data_config.batch_size,
        "batch_chars": data_config.batch_chars,
        "min_size": data_config.bucket_min_size,
        "min_width": data_config.bucket_min_width,
        "bucketing": data_config.bucketing,
        "num_buckets": data_config.num_buckets,
        "pad_to_multiple_of": data_config.pad_to_multiple_of,
    }


def _check_lengths(lengths: np.ndarray) -> None:
    if len(lengths) == 0:
        raise InputError(
            "There are no pairs to make batches of. Look at the corpus, and at data.min_length and data.max_length."
        )
    if lengths.min() < 1:
        raise InputError(f"A pair has a length of at least 1, as its end symbol counts; found {lengths.min()}.")


def _check_numbers(**numbers: int | None) -> None:
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise InputError(f"{name} = {value}; expected at least 1.")


def _check_choice(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"{name} = {value!r}; expected one of {', '.join(allowed)}.")
