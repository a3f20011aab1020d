"""How likely given translations are under a model."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from bytenet.datasets import PAD_ID, Vocabulary
from bytenet.decoding.batching import batches_by_length, pad_batch
from bytenet.errors import InputError
from bytenet.models.translation_model import TranslationModel


class PairScores(NamedTuple):
    """Likelihoods of pairs, in their order.

    Attributes:
        log_probabilities: float64 `(pairs,)`, log P(target | source) in nats, end symbol included.
        num_characters: int64 `(pairs,)`, target symbols, end symbol counted.
    """

    log_probabilities: np.ndarray
    num_characters: np.ndarray

    @property
    def bits_per_character(self) -> np.ndarray:
        """float64 `(pairs,)`: −log₂ P over the number of target symbols."""
        return -self.log_probabilities / np.log(2) / self.num_characters


def log_probabilities(
    model: TranslationModel,
    vocabulary: Vocabulary,
    sources: Sequence[str],
    targets: Sequence[str],
    batch_size: int = 32,
    trained_lengths: Sequence[int] | None = None,
) -> PairScores:
    """Log-probability of each target given its source, each character from the true ones before it.

    Both sides are padded to one length, as in training. An unknown character of a target costs what the model
    gives the unknown symbol, or is left out, as the vocabulary's rule says.

    Args:
        model: any `TranslationModel`.
        vocabulary: of the model.
        sources: sentences.
        targets: as many, their translations.
        batch_size: pairs at once.
        trained_lengths: what pairs were padded to in training, for a model that reads padding; None for one that does
            not.

    Returns:
        Log-probability and characters of each pair.

    Raises:
        InputError: the numbers of sources and targets differ, or a text has an unknown character under the rule
            "error".
    """
    if len(sources) != len(targets):
        raise InputError(f"{len(sources)} sources but {len(targets)} targets; expected as many.")
    source_ids = vocabulary.encode_batch(sources)
    target_ids = vocabulary.encode_batch(targets)
    pair_lengths = [max(map(len, pair)) for pair in zip(source_ids, target_ids, strict=True)]

    @tf.function(autograph=False)
    def score(inputs):
        logits = tf.cast(model(inputs, training=False), tf.float32)
        labels = inputs["target_ids"]
        nats = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return -tf.reduce_sum(tf.where(labels == PAD_ID, 0.0, nats), axis=1)

    @cache
    def score_of_shape(rows: int, length: int):
        ids = tf.TensorSpec([rows, length], tf.int32)
        return score.get_concrete_function({"source_ids": ids, "target_ids": ids})

    found = np.zeros(len(sources), np.float64)
    for batch, rows, length in batches_by_length(range(len(sources)), pair_lengths, batch_size, trained_lengths):
        inputs = {
            name: tf.constant(pad_batch([ids[index] for index in batch], rows, length))
            for name, ids in (("source_ids", source_ids), ("target_ids", target_ids))
        }
        found[batch] = score_of_shape(rows, length)(inputs).numpy()[: len(batch)]
    return PairScores(found, np.array([len(ids) for ids in target_ids], np.int64))
