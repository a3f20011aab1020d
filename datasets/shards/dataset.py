"""Training batches from shards: the `tf.data` pipeline.

Shard after shard is read, encoded into one array with one, two or four bytes per character, and cut into the batches
that a `ShardPlan` has decided. While one shard is trained on, the next one is prepared.
"""

import re
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from bytenet.datasets.batches.gathering import padded_rows, untuned
from bytenet.datasets.batches.pipeline import PREFETCHED_BATCHES, Loss, check_loss
from bytenet.datasets.batches.plan import FILLER
from bytenet.datasets.shards.plan import ShardPlan
from bytenet.datasets.text.encoding import encode_lines, ids_dtype
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import InputError

_READ_BYTES = 1 << 20
_ALL_RECORDS = 1 << 40

# An InputError of a function in a pipeline, in TensorFlow's message.
_INPUT_ERROR = re.compile(r"\b(?:Input|Config|MissingFile)Error: (.*?)\nTraceback ", re.DOTALL)
# An error of TensorFlow's own, after the place in the pipeline.
_PIPELINE_ERROR = re.compile(r" with iterator: Iterator::\S+: ([^\n]*)")


def shard_dataset(
    plan: ShardPlan,
    vocabulary: Vocabulary,
    seed: int,
    start_epoch: int = 0,
    start_batch: int = 0,
    loss: Loss = "character",
    reversed: bool = False,
    worker: int = 0,
) -> tf.data.Dataset:
    """Endless training batches from shards, epoch after epoch, from a given place on.

    The batch at a place depends on the arguments alone. To start at a place, only its shard is read.

    Args:
        plan: of the batches.
        vocabulary: of both sides, with the rule "symbol" or "error".
        seed: of the order.
        start_epoch, start_batch: place of the first batch, as in `training_dataset`.
        loss: what the loss is averaged over: "sentence" or "character" (end symbols counted).
        reversed: the second side of the shards is the source.
        worker: which of the plan's workers this one is. It reads its own shards and gets its own rows of each batch.

    Returns:
        Elements as those of `training_dataset`. Weights are relative to the rows and characters of the whole batch.

    Raises:
        InputError: an argument is not allowed.
        tf.errors.OpError: a shard cannot be read, when its turn comes. `reason_of_failure` gives the reason.
    """
    check_loss(loss)
    if vocabulary.unknown == "drop":
        raise InputError("Characters cannot be dropped from shards, as their lengths are already counted.")
    if not 0 <= worker < plan.workers:
        raise InputError(f"worker = {worker}; expected 0 to {plan.workers - 1}.")

    def visited() -> Iterator[tuple]:
        for visit in plan.visits(seed, start_epoch, start_batch):
            group = plan.group_batches(seed, visit.epoch, visit.group)
            batches = group.batches[visit.first_batch :]
            shard = plan.shards[visit.group * plan.workers + worker]
            rows = [batch.indices.reshape(plan.workers, -1)[worker] for batch in batches]
            indices = np.concatenate(rows)
            indices = np.where(indices < 0, FILLER, indices - group.offsets[worker]).astype(np.int32)
            ends = np.cumsum([len(own) for own in rows], dtype=np.int64)
            lengths = np.array([batch.length for batch in batches], np.int32)
            text_lengths = group.lengths[group.offsets[worker] :][: shard.pairs].ravel()
            target_lengths = np.append(group.lengths[:, 0 if reversed else 1], 0)  # for -1: a filler has no characters
            real = [
                (batch.indices >= 0).sum() if loss == "sentence" else target_lengths[batch.indices].sum()
                for batch in batches
            ]
            weights = np.array([len(batch.indices) for batch in batches], np.float32) / np.array(real, np.float32)
            yield str(shard.paths.records), text_lengths, lengths, ends, indices, weights

    signature = (
        tf.TensorSpec((), tf.string),
        *(tf.TensorSpec((None,), dtype) for dtype in (tf.int64, tf.int32, tf.int64, tf.int32, tf.float32)),
    )
    dtype = tf.as_dtype(ids_dtype(vocabulary))

    def encoded(lines: bytes, text_lengths: np.ndarray, path: bytes) -> tuple[np.ndarray, np.ndarray]:
        try:
            texts = encode_lines(lines, vocabulary)
        except UnicodeDecodeError as error:
            raise InputError(f"{path.decode()} is not UTF-8 ({error}). Shard the corpus again.") from error
        except InputError as error:  # a character, with the rule "error"
            raise InputError(
                f"{path.decode()}: {error} Shard a corpus without it, or train with data.unknown set to symbol."
            ) from error
        if not np.array_equal(texts.lengths if lines else [], text_lengths):  # no lines are one empty text
            raise InputError(f"{path.decode()} has texts of other lengths than expected. Shard the corpus again.")
        return texts.ids, texts.starts

    def read(path: tf.Tensor, text_lengths: tf.Tensor, *planned: tf.Tensor) -> tuple:
        batches = tf.data.TFRecordDataset(path, "GZIP", _READ_BYTES).batch(_ALL_RECORDS)
        records = batches.reduce(tf.zeros(0, tf.string), lambda _, batch: batch)  # one batch, or none
        lines = tf.strings.reduce_join(records, separator="\n")
        ids, starts = tf.numpy_function(encoded, [lines, text_lengths, path], [dtype, tf.int64])
        return tf.ensure_shape(ids, (None,)), tf.ensure_shape(starts, (None,)), *planned

    def batches_of(
        ids: tf.Tensor, starts: tf.Tensor, lengths: tf.Tensor, ends: tf.Tensor, indices: tf.Tensor, weights: tf.Tensor
    ) -> tf.data.Dataset:
        begins = tf.concat([[tf.constant(0, tf.int64)], ends[:-1]], axis=0)

        def batch(number: tf.Tensor) -> tuple:
            own = indices[begins[number] : ends[number]]
            is_real = own >= 0
            first, second = (padded_rows(ids, starts, 2 * own + side, is_real, lengths[number]) for side in (0, 1))
            source_ids, target_ids = (second, first) if reversed else (first, second)
            weight = tf.cast(is_real, tf.float32) * weights[number]
            return {"source_ids": source_ids, "target_ids": target_ids}, target_ids, weight

        numbers = tf.data.Dataset.range(tf.shape(lengths, tf.int64)[0])
        return numbers.map(batch, tf.data.AUTOTUNE, deterministic=True)

    shards = tf.data.Dataset.from_generator(visited, output_signature=signature).map(read).prefetch(1)
    return untuned(shards.flat_map(batches_of).prefetch(PREFETCHED_BATCHES))


def reason_of_failure(error: tf.errors.OpError) -> str | None:
    """Why a batch of `shard_dataset` could not be read, as a sentence; None if the error has another cause."""
    if match := _INPUT_ERROR.search(error.message):
        return match[1]
    if match := _PIPELINE_ERROR.search(error.message):
        return f"{match[1]}."
    return None
