"""Log-probabilities of given translations."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from bytenet.datasets import PAD_ID, Vocabulary
from bytenet.decoding.batching import batches_by_length, pad_batch
from bytenet.errors import InputError
from bytenet.models.translation_model import TranslationModel


class PairScores(NamedTuple):
    """Log-probabilities of sentence pairs, in the order of the pairs.

    Attributes:
        log_probabilities: float64 `(pairs,)`, log P(target | source) in nats. The end symbol counts.
        num_characters: int64 `(pairs,)`, symbols of the target. The end symbol counts.
    """

    log_probabilities: np.ndarray
    num_characters: np.ndarray

    @property
    def bits_per_character(self) -> np.ndarray:
        """float64 `(pairs,)`: −log₂ P over the number of target symbols."""
        return -self.log_probabilities / np.log(2) / self.num_characters


def teacher_forced_log_probabilities(model: TranslationModel, inputs: Mapping[str, tf.Tensor]) -> tf.Tensor:
    """Score each target by one pass over the whole sentence.

    Args:
        model: any `TranslationModel`.
        inputs: `source_ids` int32 `(batch, S)` and `target_ids` int32 `(batch, T)`, 0 where padded.

    Returns:
        float32 `(batch,)`: log P(target | source) in nats, without the padding.
    """
    logits = tf.cast(model(inputs, training=False), tf.float32)
    labels = inputs["target_ids"]
    nats = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return -tf.reduce_sum(tf.where(labels == PAD_ID, 0.0, nats), axis=1)


def log_probabilities(
    model: TranslationModel,
    vocabulary: Vocabulary,
    sources: Sequence[str],
    targets: Sequence[str],
    batch_size: int = 32,
    trained_lengths: Sequence[int] | None = None,
) -> PairScores:
    """Compute the log-probability of each target given its source. Each character is predicted from the true ones.

    Source and target are padded to the same length, as in training. The vocabulary's rule for unknown characters
    applies: an unknown character of a target costs what the model gives the unknown symbol, or is left out.

    Args:
        model: any `TranslationModel`.
        vocabulary: the model's vocabulary.
        sources: sentences.
        targets: their translations, one for each source.
        batch_size: number of pairs in a batch.
        trained_lengths: the lengths that pairs were padded to in training, for a model that reads padding; None for
            a model that does not.

    Returns:
        Log-probability and number of characters of each pair.

    Raises:
        InputError: the numbers of sources and targets differ, or a text has an unknown character under the rule
            "error"; or a text is too long for the model.
    """
    if len(sources) != len(targets):
        raise InputError(f"{len(sources)} sources but {len(targets)} targets; expected one target for each source.")
    source_ids = vocabulary.encode_batch(sources)
    target_ids = vocabulary.encode_batch(targets)
    pair_lengths = [max(map(len, pair)) for pair in zip(source_ids, target_ids, strict=True)]

    @tf.function(autograph=False)
    def score(inputs):
        return teacher_forced_log_probabilities(model, inputs)

    @cache
    def score_of_shape(rows: int, length: int):
        ids = tf.TensorSpec([rows, length], tf.int32)
        return score.get_concrete_function({"source_ids": ids, "target_ids": ids})

    scores = np.zeros(len(sources), np.float64)
    batches = batches_by_length(
        range(len(sources)), pair_lengths, batch_size, trained_lengths, model.length_policy.longest
    )
    for batch, rows, length in batches:
        inputs = {
            name: tf.constant(pad_batch([ids[index] for index in batch], rows, length))
            for name, ids in (("source_ids", source_ids), ("target_ids", target_ids))
        }
        scores[batch] = score_of_shape(rows, length)(inputs).numpy()[: len(batch)]
    return PairScores(scores, np.array([len(ids) for ids in target_ids], np.int64))
