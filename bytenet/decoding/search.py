"""What greedy and beam search have in common."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from bytenet.datasets import PAD_ID
from bytenet.models.translation_model import TranslationModel


class SearchResult(NamedTuple):
    """Hypotheses of a batch of sentences, each sentence's best first. Every hypothesis that ended is ranked
    before every one that reached the length limit.

    Attributes:
        ids: int32 `(batch, n_best, max_length)`, the end symbol included, 0 after it.
        scores: float32 `(batch, n_best)`, log-probability over length penalty; what the ranking is by.
        log_probabilities: float32 `(batch, n_best)`, nats under the model; −inf where there are not so many
            hypotheses.
        lengths: int32 `(batch, n_best)`, number of symbols, the end symbol counted.
        ended: bool `(batch, n_best)`, whether the end symbol is there.
    """

    ids: tf.Tensor
    scores: tf.Tensor
    log_probabilities: tf.Tensor
    lengths: tf.Tensor
    ended: tf.Tensor


def length_limits_or_default(
    model: TranslationModel, source_ids: tf.Tensor, max_length: int | None, length_limits: tf.Tensor | None
) -> tuple[int, tf.Tensor]:
    """The longest hypothesis of the batch, and of each sentence as int32 `(batch,)`.

    Raises:
        ValueError: `max_length` is below 1.
    """
    if max_length is None:
        max_length = model.max_target_length(source_ids.shape[1])
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1; found {max_length}.")
    if length_limits is None:
        return max_length, tf.fill([tf.shape(source_ids)[0]], max_length)
    return max_length, tf.minimum(tf.cast(length_limits, tf.int32), max_length)


def log_probability_offsets(vocab_size: int, forbidden_ids: Sequence[int]) -> np.ndarray:
    """float32 `(vocab_size,)` to add to log-probabilities or logits: −inf for symbols that may not be chosen, else 0.

    Added after the softmax, so what is forbidden keeps its share of the probability: the others stay what the model
    says.
    """
    offsets = np.zeros(vocab_size, np.float32)
    offsets[list(forbidden_ids)] = -np.inf
    return offsets


def length_penalty_divisor(lengths: tf.Tensor, alpha: float) -> tf.Tensor:
    """((5 + length) / 6)^alpha, float32 in the shape of `lengths`; 1 for `alpha` 0.

    Reference:
        Wu et al. 2016, "Google's Neural Machine Translation System", equation 14.
    """
    return ((5.0 + tf.cast(lengths, tf.float32)) / 6.0) ** alpha


def empty_symbols(max_length: int, row_shape: Sequence) -> tf.TensorArray:
    """An array of `max_length` rows of int32 zeros, which stay zero where the search ends before them."""
    # Unstacking zeros, rather than leaving places unwritten, also serves row shapes known only at run time.
    rows = tf.fill(tf.stack([max_length, *row_shape]), PAD_ID)
    return tf.TensorArray(tf.int32, size=max_length, clear_after_read=False).unstack(rows)
