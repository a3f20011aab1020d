"""Sentence pairs in, padded batches of ids out: the `tf.data` pipeline.

The corpus is encoded once, into one array with one, two or four bytes per character. A `BatchPlan` decides in advance,
one epoch at a time, which pairs form which batch. So a training run can continue at any batch of any epoch without
reading what comes before. The graph only copies the rows of a batch out of the array: no Python runs between the
batches of an epoch.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import tensorflow as tf

from bytenet.datasets.batches.encoded_pairs import encode_pairs, encoded_pair_lengths
from bytenet.datasets.batches.gathering import padded_rows, untuned
from bytenet.datasets.batches.plan import BatchPlan, PlannedBatch, fill_rows, length_groups
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.encoding import EncodedTexts, encode_texts
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import InputError

Loss = Literal["sentence", "character"]

PREFETCHED_BATCHES = 8
"""Batches that are made before they are asked for."""


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

    The batch at a place depends on the arguments alone: a run that starts at (epoch, batch) gets the same batch there
    as a run from the beginning.

    Args:
        pairs: the training pairs.
        vocabulary: of both sides.
        plan: made for `pair_lengths(pairs, vocabulary)`.
        seed: of the order.
        start_epoch: epoch of the first batch.
        start_batch: number of the first batch in that epoch; `plan.num_batches` is the first of the next epoch.
        loss: what the loss is averaged over: "sentence" or "character" (end symbols counted).

    Returns:
        Elements `({"source_ids", "target_ids"}, target_ids, sample_weight)`: the ids int32 `(rows, length)`, the
        weights float32 `(rows,)`. Filler rows are all 0 and have weight 0. A real row has the weight rows / N, where N
        is the number of real sentences or real target characters in the batch. The mean over rows of weight times the
        row's summed cross entropy is then the mean over sentences or characters, for any number of replicas.

    Raises:
        InputError: `loss` is unknown, the plan was made for other pairs, or a text has an unknown character
            under the rule "error".
    """
    check_loss(loss)
    encoded = encode_pairs(pairs, vocabulary)
    if not np.array_equal(plan.lengths, encoded_pair_lengths(encoded)):
        raise InputError("The batch plan was made for other pairs or another vocabulary; plan for these.")

    def weigh(ids: dict[str, tf.Tensor], indices: tf.Tensor) -> tuple:
        return ids, ids["target_ids"], loss_weights(ids["target_ids"], loss)

    batches = _gathered_batches(encoded, lambda: _epochs(plan, seed, start_epoch, start_batch))
    return batches.map(weigh, tf.data.AUTOTUNE, deterministic=True).prefetch(PREFETCHED_BATCHES)


def monolingual_dataset(
    texts: Sequence[str], vocabulary: Vocabulary, plan: BatchPlan, seed: int, start: int = 0
) -> tf.data.Dataset:
    """Endless batches of texts of one language, like those that `training_dataset` makes of pairs.

    Args:
        texts: the texts; each comes once an epoch.
        vocabulary: of the run.
        plan: made for `vocabulary.encoded_lengths(texts)`.
        seed: of the order.
        start: number of the first batch, counted over all epochs from 0.

    Returns:
        Elements int32 `(rows, length)`; filler rows are all 0.

    Raises:
        InputError: the plan was made for other texts, or a text has an unknown character under the rule "error".
    """
    encoded = encode_texts(texts, vocabulary)
    if not np.array_equal(plan.lengths, encoded.lengths):
        raise InputError("The batch plan was made for other texts or another vocabulary; plan for these.")
    place = divmod(start, plan.num_batches)
    batches = _gathered_batches(encoded, lambda: _epochs(plan, seed, *place), sides=("ids",))
    texts_alone = batches.map(lambda ids, indices: ids["ids"], tf.data.AUTOTUNE, deterministic=True)
    return texts_alone.prefetch(PREFETCHED_BATCHES)


def loss_weights(target_ids: tf.Tensor, loss: Loss) -> tf.Tensor:
    """The weights that turn the mean over rows of summed cross entropies into the mean over sentences or characters.

    Args:
        target_ids: int32 `(rows, length)`, all 0 in filler rows.
        loss: the mean is over real sentences ("sentence") or real characters ("character").

    Returns:
        float32 `(rows,)`: 0 for filler rows, and rows / N for real rows, where N is the number of real sentences or
        characters. All 0 for a batch of filler rows only.

    Raises:
        InputError: `loss` is unknown.
    """
    check_loss(loss)
    real = tf.cast(target_ids[:, 0] != 0, tf.float32)  # every text has an end symbol
    count = tf.reduce_sum(real) if loss == "sentence" else tf.cast(tf.math.count_nonzero(target_ids), tf.float32)
    return tf.math.divide_no_nan(real * tf.cast(tf.shape(target_ids)[0], tf.float32), count)


def evaluation_dataset(
    pairs: Pairs,
    vocabulary: Vocabulary,
    batch_size: int,
    max_buckets: int = 8,
    padded_lengths: Sequence[int] | None = None,
) -> tf.data.Dataset:
    """One pass over `pairs`, from short to long, in batches of few shapes.

    Args:
        pairs: at least one.
        vocabulary: of both sides.
        batch_size: rows of every batch; with `padded_lengths`, the last batch of a bucket may have fewer.
        max_buckets: most different padded lengths.
        padded_lengths: the padded lengths of the training's batches, for a model whose result for a sentence depends
            on the batch. Batches are then made as in training: pairs of one bucket in the order of `pairs`, padded to
            the bucket's length, without filler rows. `max_buckets` has no effect.

    Returns:
        Elements `({"source_ids", "target_ids"}, indices)`: ids int32 `(rows, length)`, both sides padded to one length;
        indices int32 `(rows,)`, the pairs' places in `pairs`, -1 for filler rows, which are all 0.

    Raises:
        InputError: no pairs, a number below 1, or an unknown character under the rule "error".
    """
    if len(pairs) == 0:
        raise InputError("There are no pairs to evaluate. Give at least one.")
    if min(batch_size, max_buckets) < 1:
        raise InputError(f"batch_size = {batch_size}, max_buckets = {max_buckets}; expected at least 1.")
    encoded = encode_pairs(pairs, vocabulary)
    lengths = encoded_pair_lengths(encoded)
    planned = []
    if padded_lengths is not None:
        for length, members in length_groups(lengths, padded_lengths):
            cuts = range(batch_size, len(members), batch_size)
            planned += [PlannedBatch(length, indices) for indices in np.split(members, cuts)]
    else:
        order = np.argsort(lengths, kind="stable").astype(np.int32)
        starts = np.arange(0, len(order), batch_size)
        for group in np.array_split(starts, min(max_buckets, len(starts))):
            longest = int(lengths[order[group[-1] : group[-1] + batch_size]].max())
            for start in group:
                indices = fill_rows(order[start : start + batch_size], batch_size)
                planned.append(PlannedBatch(longest, indices))
    batches = _gathered_batches(encoded, lambda: iter([planned]))
    return batches.apply(tf.data.experimental.assert_cardinality(len(planned))).prefetch(PREFETCHED_BATCHES)


def check_loss(loss: str) -> None:
    """Raise an InputError if a loss is unknown."""
    if loss not in get_args(Loss):
        raise InputError(f"loss = {loss!r}; expected one of {', '.join(get_args(Loss))}.")


def _epochs(plan: BatchPlan, seed: int, epoch: int, batch: int) -> Iterator[list[PlannedBatch]]:
    """The batches of each epoch, from a given place on."""
    while True:
        if batches := plan.epoch(seed, epoch)[batch:]:
            yield batches
        epoch, batch = epoch + 1, max(0, batch - plan.num_batches)


def _gathered_batches(
    encoded: EncodedTexts,
    epochs: Callable[[], Iterator[list[PlannedBatch]]],
    sides: Sequence[str] = ("source_ids", "target_ids"),
) -> tf.data.Dataset:
    """All batches of all epochs.

    Args:
        encoded: all texts of the first side, followed by those of the next side.
        epochs: gives the batches of each epoch, at least one each.
        sides: names of the sides.

    Returns:
        Elements `({side: ids}, indices)`.
    """
    with tf.device("CPU:0"):
        all_ids, starts = tf.constant(encoded.ids), tf.constant(encoded.starts)
    num_rows = (len(encoded.starts) - 1) // len(sides)

    def gather(length: tf.Tensor, indices: tf.Tensor) -> tuple:
        texts = tf.concat([indices + side * num_rows for side in range(len(sides))], axis=0)  # (sides * rows,)
        is_real = tf.tile(indices >= 0, [len(sides)])
        ids = padded_rows(all_ids, starts, texts, is_real, length)
        return dict(zip(sides, tf.split(ids, len(sides)), strict=True)), indices

    return untuned(_planned_batches(epochs).map(gather, tf.data.AUTOTUNE, deterministic=True))


def _planned_batches(epochs: Callable[[], Iterator[list[PlannedBatch]]]) -> tf.data.Dataset:
    """Elements `(length, indices)`: each batch of each epoch. The next epoch is planned in the meantime."""

    def joined() -> Iterator[tuple[np.ndarray, ...]]:
        for batches in epochs():
            lengths = np.array([batch.length for batch in batches], np.int32)
            ends = np.cumsum([len(batch.indices) for batch in batches], dtype=np.int64)
            yield lengths, ends, np.concatenate([batch.indices for batch in batches])

    def batches_of(lengths: tf.Tensor, ends: tf.Tensor, indices: tf.Tensor) -> tf.data.Dataset:
        begins = tf.concat([[tf.constant(0, tf.int64)], ends[:-1]], axis=0)
        cuts = tf.data.Dataset.from_tensor_slices((lengths, begins, ends))
        return cuts.map(lambda length, begin, end: (length, indices[begin:end]))

    signature = tuple(tf.TensorSpec((None,), dtype) for dtype in (tf.int32, tf.int64, tf.int32))
    planned = tf.data.Dataset.from_generator(joined, output_signature=signature)
    return planned.prefetch(1).flat_map(batches_of)
