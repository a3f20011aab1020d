"""The result of every search, and the operations that searches share."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.lite.length_penalty import LengthPenaltyRule, check_rule, length_penalty_divisor
from bytenet.models.translation_model import TranslationModel


class SearchResult(NamedTuple):
    """Hypotheses of a batch of sentences.

    The hypotheses of a sentence are ranked by their scores. Those that ended come before those that reached the length
    limit. If a sentence has fewer than `n_best` hypotheses, the remaining ones have log-probability −inf, and their
    other values mean nothing.

    Attributes:
        ids: int32 `(batch, n_best, max_length)`, with the end symbol. 0 after it, or after the last symbol
            of a hypothesis without one.
        scores: float32 `(batch, n_best)`, log-probability over length penalty.
        log_probabilities: float32 `(batch, n_best)`, log-probability under the model in nats.
        lengths: int32 `(batch, n_best)`, number of symbols. The end symbol counts.
        ended: bool `(batch, n_best)`, whether the hypothesis has an end symbol.
    """

    ids: tf.Tensor
    scores: tf.Tensor
    log_probabilities: tf.Tensor
    lengths: tf.Tensor
    ended: tf.Tensor


def length_limits_or_default(
    model: TranslationModel, source_ids: tf.Tensor, max_length: int | tf.Tensor | None, length_limits: tf.Tensor | None
) -> tuple[int | tf.Tensor, tf.Tensor]:
    """The length limits of a search.

    Args:
        model: the model.
        source_ids: int32 `(batch, source_length)`.
        max_length: largest number of symbols of any hypothesis, an int or an int32 scalar; None is
            `model.max_target_length(source_length)`. A tensor is lowered to what the model can read.
        length_limits: int32 `(batch,)`, the limit of each sentence; None is `max_length` for all.

    Returns:
        The limit of the batch, and the limit of each sentence as int32 `(batch,)`.

    Raises:
        ValueError: `max_length` is an int below 1, or above `model.length_policy.longest`.
    """
    if max_length is None:
        length = source_ids.shape[1]
        max_length = (
            model.max_target_lengths(tf.shape(source_ids)[1]) if length is None else model.max_target_length(length)
        )
    policy = model.length_policy
    if not tf.is_tensor(max_length):
        if max_length < 1:
            raise ValueError(f"max_length is {max_length}; expected 1 or more.")
        policy.check(max_length)
    elif policy.longest is not None:
        max_length = tf.minimum(max_length, policy.longest)
    if length_limits is None:
        return max_length, tf.fill([tf.shape(source_ids)[0]], max_length)
    return max_length, tf.minimum(tf.cast(length_limits, tf.int32), max_length)


def symbol_offsets(
    vocab_size: int, forbidden_ids: Sequence[int], min_length: int
) -> Callable[[tf.Tensor], tf.Tensor | np.ndarray]:
    """What a search adds to the log-probabilities or logits of a step, so that it cannot choose some symbols.

    The log-probabilities of a result are those of the model: they come from logits without it. Samples are drawn among
    the other symbols alone.

    Args:
        vocab_size: number of symbols.
        forbidden_ids: symbols that no hypothesis contains.
        min_length: least number of symbols of a hypothesis. The end symbol counts. If it is above the length limit of a
            sentence, no hypothesis of the sentence has an end symbol.

    Returns:
        A function of the position, an int32 scalar that is 0 for the first symbol. Its result is float32
        `(vocab_size,)`: −inf for forbidden symbols, and for the end symbol while it is too early; 0 for the others.

    Raises:
        ValueError: a forbidden symbol is not an id of the vocabulary, or no symbol can be the first one.
    """
    for symbol_id in forbidden_ids:
        if not 0 <= symbol_id < vocab_size:
            raise ValueError(f"forbidden_ids has {symbol_id}; expected ids from 0 to {vocab_size - 1}.")
    always = np.zeros(vocab_size, np.float32)
    always[list(forbidden_ids)] = -np.inf
    early = always.copy()
    if min_length > 1:
        early[EOS_ID] = -np.inf
    if np.isneginf(early).all():
        raise ValueError(
            f"With these forbidden_ids and min_length {min_length}, a hypothesis can begin with none of the "
            f"{vocab_size} symbols. Forbid fewer symbols, or choose a smaller min_length."
        )
    if min_length <= 1:
        return lambda position: always
    return lambda position: tf.where(position < min_length - 1, early, always)


def empty_symbols(max_length: int | tf.Tensor, row_shape: Sequence) -> tf.TensorArray:
    """An array of `max_length` rows of int32 zeros. A search that ends early leaves the last rows zero."""
    # Reading a row that was never written needs a static row shape. Zeros work with any shape.
    rows = tf.fill(tf.stack([max_length, *row_shape]), PAD_ID)
    return tf.TensorArray(tf.int32, size=max_length, clear_after_read=False).unstack(rows)


def score_divisor(lengths: tf.Tensor, length_penalty: float, rule: LengthPenaltyRule) -> tf.Tensor:
    """What log-probabilities are divided by to get scores: int32 lengths of any shape → float32 of the same shape."""
    # Rows that only fill a batch have a length of 0.
    return length_penalty_divisor(tf.cast(tf.maximum(lengths, 1), tf.float32), length_penalty, rule)


def with_length_penalty(result: SearchResult, length_penalty: float, rule: LengthPenaltyRule) -> SearchResult:
    """The same hypotheses, whose scores are their log-probabilities over the length penalty."""
    return result._replace(scores=result.log_probabilities / score_divisor(result.lengths, length_penalty, rule))


def check_ranking(
    n_best: int | tf.Tensor, num_hypotheses: int, name: str, length_penalty: float, rule: LengthPenaltyRule
) -> None:
    """Check the numbers by which hypotheses are ranked.

    Args:
        n_best: number of hypotheses to return. A tensor is not checked.
        num_hypotheses: number of hypotheses to rank.
        name: of `num_hypotheses` among the arguments of the search.
        length_penalty: alpha.
        rule: of the length penalty.

    Raises:
        ValueError: a number is out of its range, or there is no such rule.
    """
    check_rule(rule)
    if not tf.is_tensor(n_best) and not 1 <= n_best <= num_hypotheses:
        raise ValueError(f"n_best is {n_best} and {name} {num_hypotheses}; expected 1 <= n_best <= {name}.")
    if length_penalty < 0:
        raise ValueError(f"length_penalty is {length_penalty}; expected 0 or more.")


def best_hypotheses(hypotheses: SearchResult, n_best: int | tf.Tensor) -> SearchResult:
    """The `n_best` best hypotheses of each sentence: first those that ended, then the others, each ordered by score."""
    ended, scores = hypotheses.ended, hypotheses.scores
    # The thesis gives all beams that did not end the same score, -1e9, so they are not ranked.
    worst_ended = tf.reduce_min(tf.where(ended, scores, 0.0), axis=1, keepdims=True)
    _, order = tf.math.top_k(tf.where(ended, scores, worst_ended - 1.0 + scores), n_best)
    return SearchResult(*(tf.gather(values, order, batch_dims=1) for values in hypotheses))
