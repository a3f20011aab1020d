"""Sentence pairs in, padded batches of ids out: the `tf.data` pipeline.

Raw strings are batched first and a batch is encoded in one go, about three times faster than encoding line by
line. Which pairs make which batch is settled beforehand, by a `BatchPlan`, so that a training run can go on
at any batch of any epoch without reading what lies before it.
"""

from collections.abc import Callable, Iterator
from typing import Literal, get_args

import numpy as np
import tensorflow as tf

from bytenet.datasets.bucketing import BatchPlan, PlannedBatch, fill_rows, pair_lengths
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.vocabulary import Vocabulary
from bytenet.errors import InputError

Loss = Literal["sentence", "character"]

_PREFETCHED_BATCHES = 8


def training_dataset(
    pairs: Pairs,
    vocabulary: Vocabulary,
    plan: BatchPlan,
    seed: int,
    start_epoch: int = 0,
    start_batch: int = 0,
    loss: Loss = "character",
) -> tf.data.Dataset:
    """Endless training batches, epoch after epoch, from a given place on.

    The batch at a place depends on the arguments alone: a run that starts at (epoch, batch) sees what a run
    from the beginning sees there.

    Args:
        pairs: the training pairs.
        vocabulary: of both sides.
        plan: made for `pair_lengths(pairs, vocabulary)`.
        seed: of the order.
        start_epoch: epoch of the first batch.
        start_batch: number of the first batch in that epoch; `plan.num_batches` is the next epoch's first.
        loss: what the loss is averaged over: "sentence" or "character" (end symbols counted).

    Returns:
        Elements `({"source_ids", "target_ids"}, target_ids, sample_weight)`: the ids int32 `(rows, length)`,
        the weights float32 `(rows,)`. Filler rows are all 0 and weigh 0. A real row weighs rows / N, N the
        number of real sentences or of real target characters in the batch, so that the mean over rows of
        weight times the row's summed cross entropy is the wanted mean, however many replicas share the rows.

    Raises:
        InputError: `loss` is unknown, the plan was made for other pairs, or a text has an unknown character
            under the rule "error".
    """
    if loss not in get_args(Loss):
        raise InputError(f"loss = {loss!r}; expected one of {', '.join(get_args(Loss))}.")
    if not np.array_equal(plan.lengths, pair_lengths(pairs, vocabulary)):
        raise InputError("The batch plan was made for other pairs or another vocabulary; plan for these.")

    def batches() -> Iterator[PlannedBatch]:
        epoch, first = start_epoch, start_batch
        while True:
            yield from plan.epoch(seed, epoch)[first:]
            epoch, first = epoch + 1, max(0, first - plan.num_batches)

    def weigh(ids: dict[str, tf.Tensor], indices: tf.Tensor) -> tuple:
        real = tf.cast(indices >= 0, tf.float32)  # (rows,)
        if loss == "sentence":
            count = tf.reduce_sum(real)
        else:
            count = tf.cast(tf.math.count_nonzero(ids["target_ids"]), tf.float32)
        weight = real * tf.cast(tf.size(indices), tf.float32) / count
        return ids, ids["target_ids"], weight

    encoded = _encoded_batches(pairs, vocabulary, batches)
    return encoded.map(weigh, tf.data.AUTOTUNE, deterministic=True).prefetch(_PREFETCHED_BATCHES)


def evaluation_dataset(
    pairs: Pairs, vocabulary: Vocabulary, batch_size: int, max_buckets: int = 8, replicas: int = 1
) -> tf.data.Dataset:
    """One pass over `pairs`, from short to long, in batches of few shapes.

    Args:
        pairs: at least one.
        vocabulary: of both sides.
        batch_size: rows of every batch; rounded up to a multiple of `replicas`.
        max_buckets: most different padded lengths.
        replicas: number of blocks of rows, each of which gets its part of the last batch.

    Returns:
        Elements `({"source_ids", "target_ids"}, indices)`: ids int32 `(batch_size, length)`, both sides
        padded to one length; indices int32 `(batch_size,)` the pairs' places in `pairs`, -1 for filler rows,
        which are all 0.

    Raises:
        InputError: no pairs, or a number below 1.
    """
    if len(pairs) == 0:
        raise InputError("There are no pairs to evaluate.")
    if min(batch_size, max_buckets, replicas) < 1:
        raise InputError("batch_size, max_buckets and replicas must be at least 1.")
    batch_size = -(-batch_size // replicas) * replicas
    lengths = pair_lengths(pairs, vocabulary)
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    starts = np.arange(0, len(order), batch_size)
    planned = []
    for group in np.array_split(starts, min(max_buckets, len(starts))):
        longest = int(lengths[order[group[-1] : group[-1] + batch_size]].max())
        for start in group:
            indices = fill_rows(order[start : start + batch_size], batch_size, replicas)
            planned.append(PlannedBatch(longest, indices))
    encoded = _encoded_batches(pairs, vocabulary, lambda: iter(planned))
    return encoded.apply(tf.data.experimental.assert_cardinality(len(planned))).prefetch(_PREFETCHED_BATCHES)


def _encoded_batches(
    pairs: Pairs, vocabulary: Vocabulary, batches: Callable[[], Iterator[PlannedBatch]]
) -> tf.data.Dataset:
    """Elements `({"source_ids", "target_ids"}, indices)` of the batches that `batches()` yields."""

    def gather() -> Iterator[tuple]:
        for batch in batches():
            rows = batch.indices.tolist()
            sources = [pairs.source[row].encode("utf-8") if row >= 0 else b"" for row in rows]
            targets = [pairs.target[row].encode("utf-8") if row >= 0 else b"" for row in rows]
            yield batch.length, batch.indices, sources, targets

    def encode(length: tf.Tensor, indices: tf.Tensor, sources: tf.Tensor, targets: tf.Tensor) -> tuple:
        both = vocabulary.encode_graph(tf.concat([sources, targets], axis=0), length)  # (2 * rows, length)
        source_ids, target_ids = tf.split(both, 2)
        real = tf.cast(indices >= 0, tf.int32)[:, tf.newaxis]  # a filler's empty text got an end symbol
        return {"source_ids": source_ids * real, "target_ids": target_ids * real}, indices

    signature = (
        tf.TensorSpec((), tf.int32),
        tf.TensorSpec((None,), tf.int32),
        tf.TensorSpec((None,), tf.string),
        tf.TensorSpec((None,), tf.string),
    )
    raw = tf.data.Dataset.from_generator(gather, output_signature=signature)
    return raw.map(encode, tf.data.AUTOTUNE, deterministic=True)
