"""Which sentences go into which batch: buckets of like length, one padded shape each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from bytenet.datasets.batches.partition import fixed_width_cuts, histogram_cuts, optimal_cuts
from bytenet.datasets.batches.plan import BatchPlan, Bucket, Shuffle, round_up
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import InputError

Bucketing = Literal["optimal", "histogram", "fixed_width", "none"]


def text_lengths(texts: Sequence[str], vocabulary: Vocabulary) -> np.ndarray:
    """int32 `(texts,)`: ids of each text, end symbol counted."""
    return vocabulary.encoded_lengths(texts)


def pair_lengths(pairs: Pairs, vocabulary: Vocabulary) -> np.ndarray:
    """int32 `(pairs,)`: ids of the longer side of each pair, end symbol counted."""
    return np.maximum(text_lengths(pairs.source, vocabulary), text_lengths(pairs.target, vocabulary))


@dataclass(frozen=True)
class _BatchRule:
    """The shape of a bucket's batches. The arguments of its methods may be arrays."""

    batch_size: int
    batch_chars: int | None
    replicas: int
    pad_to_multiple_of: int

    def length(self, upper: Any) -> Any:
        """To which a bucket is padded, whose longest pair has the length `upper`."""
        return round_up(upper, self.pad_to_multiple_of)

    def rows(self, pairs: Any, upper: Any) -> Any:
        """Rows of each batch of a bucket of so many pairs, the longest of length `upper`."""
        if self.batch_chars is None:
            size = round_up(self.batch_size, self.replicas)
        else:
            size = np.maximum(1, self.batch_chars // self.length(upper) // self.replicas) * self.replicas
        # A bucket that does not fill one batch gets a smaller one.
        return np.minimum(size, round_up(pairs, self.replicas))

    def positions(self, pairs: Any, upper: Any) -> Any:
        """Padded positions of all its batches, those of filler rows too."""
        rows = self.rows(pairs, upper)
        return round_up(pairs, rows) * self.length(upper)


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
        lengths: int `(pairs,)`, each the longer side of a pair, end symbol counted.
        batch_size: pairs in a batch; rounded up to a multiple of `replicas`.
        batch_chars: instead of `batch_size`, the most padded target characters in a batch, so that a bucket's
            batch size is `batch_chars // padded length`, rounded down to a multiple of `replicas` but at
            least one row a replica.
        min_size: fewest pairs in a bucket; None means twice the batch size (of a pair of middling length,
            where that is given by `batch_chars`).
        min_width: fewest lengths in a bucket of "histogram".
        replicas: number of devices that share each batch in contiguous blocks of equally many rows.
        bucketing: "optimal" for the `num_buckets` buckets with the least padding, fillers counted as the plan
            counts them; "histogram" for `histogram_cuts`; "fixed_width" for buckets of equal width (to compare
            with; `min_size` does not hold); "none" for a single bucket.
        num_buckets: most buckets of "optimal" and "fixed_width"; None means as many as "histogram" makes.
        pad_to_multiple_of: padded lengths are multiples of it, so that like corpora have batches of the same shapes.
        shuffle: see `BatchPlan`.
        shuffle_buffer: see `BatchPlan`.

    Raises:
        InputError: no pairs, or a setting that is not allowed.
    """
    lengths = np.asarray(lengths, np.int32)
    _check_settings(
        lengths, batch_size, batch_chars, replicas, bucketing, num_buckets, pad_to_multiple_of, shuffle, shuffle_buffer
    )
    if min_size is None:
        min_size = 2 * (batch_size if batch_chars is None else max(1, batch_chars // int(np.median(lengths))))
    rule = _BatchRule(batch_size, batch_chars, replicas, pad_to_multiple_of)
    histogram = np.bincount(lengths)
    by_histogram = histogram_cuts(histogram, min_size, min_width)
    num_buckets = num_buckets or len(by_histogram) + 1
    cuts: list[int] = []
    if bucketing == "optimal":
        cuts = optimal_cuts(histogram, num_buckets, min_size, rule.positions)
    elif bucketing == "histogram":
        cuts = by_histogram
    elif bucketing == "fixed_width":
        cuts = fixed_width_cuts(histogram, num_buckets)
    return BatchPlan(lengths, _make_buckets(histogram, cuts, rule), replicas, shuffle, shuffle_buffer)


def _make_buckets(histogram: np.ndarray, cuts: Sequence[int], rule: _BatchRule) -> tuple[Bucket, ...]:
    """The buckets between the cuts, without those that no pair falls into."""
    buckets = []
    for lower, end in zip([0, *cuts], [*cuts, len(histogram)], strict=True):
        inside = histogram[lower:end]
        pairs = int(inside.sum())
        if pairs == 0:
            continue
        upper = lower + int(np.flatnonzero(inside)[-1])
        length, batch_size = int(rule.length(upper)), int(rule.rows(pairs, upper))
        positions = int(rule.positions(pairs, upper))
        batches = positions // (batch_size * length)
        real = int(inside @ np.arange(lower, end))
        buckets.append(Bucket(lower, upper, length, pairs, batch_size, batches, 1 - real / positions))
    return tuple(buckets)


def plan_from_config(lengths: np.ndarray, data_config: Any, replicas: int = 1, **changes: Any) -> BatchPlan:
    """`plan_batches` with the settings of a `DataConfig`, but for the arguments named in `changes`."""
    settings = {
        "batch_size": data_config.batch_size,
        "batch_chars": data_config.batch_chars,
        "min_size": data_config.bucket_min_size,
        "min_width": data_config.bucket_min_width,
        "bucketing": data_config.bucketing,
        "num_buckets": data_config.num_buckets,
        "pad_to_multiple_of": data_config.pad_to_multiple_of,
        "shuffle": data_config.shuffle,
        "shuffle_buffer": data_config.shuffle_buffer,
    }
    return plan_batches(lengths, replicas=replicas, **settings | changes)


def _check_settings(
    lengths: np.ndarray,
    batch_size: int,
    batch_chars: int | None,
    replicas: int,
    bucketing: str,
    num_buckets: int | None,
    pad_to_multiple_of: int,
    shuffle: str,
    shuffle_buffer: int,
) -> None:
    if len(lengths) == 0:
        raise InputError("There are no pairs to make batches of.")
    if lengths.min() < 1:
        raise InputError(f"A pair's length is at least 1, its end symbol; found {lengths.min()}.")
    numbers = {"batch_size": batch_size, "replicas": replicas, "shuffle_buffer": shuffle_buffer}
    numbers |= {"batch_chars": batch_chars, "num_buckets": num_buckets, "pad_to_multiple_of": pad_to_multiple_of}
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise InputError(f"{name} = {value}; expected at least 1.")
    for name, value, allowed in (("bucketing", bucketing, Bucketing), ("shuffle", shuffle, Shuffle)):
        if value not in get_args(allowed):
            raise InputError(f"{name} = {value!r}; expected one of {', '.join(get_args(allowed))}.")
