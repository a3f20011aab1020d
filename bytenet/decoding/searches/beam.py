"""Beam search for a whole batch at once."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.decoding.searches.search import (
    SearchResult,
    best_hypotheses,
    check_ranking,
    empty_symbols,
    length_limits_or_default,
    score_divisor,
    symbol_offsets,
)
from bytenet.lite.length_penalty import LengthPenaltyRule
from bytenet.models.translation_model import TranslationModel


class _Beams(NamedTuple):
    """The beams after `position` steps, best log-probability first; `b` is the beam size."""

    position: tf.Tensor  # int32 scalar
    ids: tf.Tensor  # int32 (batch, b), the symbols of the last step
    log_probabilities: tf.Tensor  # float32 (batch, b), −inf for beams that do not exist
    lengths: tf.Tensor  # int32 (batch, b)
    ended: tf.Tensor  # bool (batch, b)
    settled: tf.Tensor  # bool (batch,), no further step can change the sentence's n best
    state: Any  # nest of tensors (batch * b, ...)
    symbols: tf.TensorArray  # int32 (max_length, batch, b), chosen at each step
    parents: tf.TensorArray  # int32 (max_length, batch, b), the beam of the previous step that each beam extends


def beam_search(
    model: TranslationModel,
    source_ids: tf.Tensor,
    beam_size: int,
    max_length: int | tf.Tensor | None = None,
    length_penalty: float = 0.0,
    n_best: int | tf.Tensor | None = None,
    length_limits: tf.Tensor | None = None,
    forbidden_ids: Sequence[int] = (PAD_ID,),
    length_penalty_rule: LengthPenaltyRule = "gnmt",
    min_length: int = 0,
) -> SearchResult:
    """Translate a batch. Each step keeps the `beam_size` likeliest hypotheses of each sentence.

    During the search, hypotheses are ordered by their log-probability. A hypothesis that has ended no longer changes
    and still competes with the others. A sentence is settled when it has `n_best` ended hypotheses whose scores no live
    hypothesis can beat; log-probabilities never rise. The beams of a settled sentence no longer change, whatever its
    neighbours in the batch do. The search stops when every sentence is settled or at its length limit.

    Call it inside a `tf.function`, as `CompiledSearch` does. Outside it works, but is slow.

    Args:
        model: any `TranslationModel`.
        source_ids: int32 `(batch, source_length)`, 0 where padded.
        beam_size: number of hypotheses that are kept, at least 1.
        max_length: largest number of symbols of a hypothesis, with the end symbol, an int or an int32
            scalar; None is `model.max_target_length(source_length)`.
        length_penalty: alpha. A score is log-probability / ((5 + length) / 6)^alpha. The thesis uses 0.
        n_best: number of hypotheses to return for each sentence, an int or an int32 scalar; None is all.
        length_limits: int32 `(batch,)`, the limit of each sentence, at most `max_length`; 0 for a row that only fills
            the batch: it gets no symbols.
        forbidden_ids: symbols that no hypothesis contains. The thesis forbids none.
        length_penalty_rule: "gnmt" for the divisor above; "length" for length^alpha.
        min_length: least number of symbols of a hypothesis, with the end symbol; 0 or 1 is no limit.

    Returns:
        `SearchResult` with `n_best` hypotheses for each sentence.

    Raises:
        ValueError: as for `greedy_search`. Tensors are not checked.

    Reference:
        Madsen 2017, algorithms 2 and 3, with scores that start at [0, −∞, ...].
    """
    n_best = beam_size if n_best is None else n_best
    check_ranking(n_best, beam_size, "beam_size", length_penalty, length_penalty_rule)
    source_ids = tf.convert_to_tensor(source_ids, tf.int32)
    max_length, limits = length_limits_or_default(model, source_ids, max_length, length_limits)
    batch, vocab_size = tf.shape(source_ids)[0], model.vocab_size
    memory = model.encode(source_ids)
    model_step = model.make_step()
    offsets = symbol_offsets(vocab_size, forbidden_ids, min_length)
    stay = np.full(vocab_size, -np.inf, np.float32)
    stay[PAD_ID] = 0.0

    def divisor(lengths):
        return score_divisor(lengths, length_penalty, length_penalty_rule)

    def searching(beams):
        return tf.logical_not(beams.settled) & (beams.position < limits)  # (batch,)

    def step(*loop_variables):
        beams = _Beams(*loop_variables)
        frozen = beams.ended | tf.logical_not(searching(beams))[:, None]
        logits, state = model_step(tf.reshape(beams.ids, [-1]), beams.state, memory, beams.position)
        candidates = tf.nn.log_softmax(tf.cast(logits, tf.float32)) + offsets(beams.position)
        candidates = tf.reshape(candidates, [batch, beam_size, vocab_size])
        candidates = tf.where(frozen[..., None], stay, candidates) + beams.log_probabilities[..., None]
        log_probabilities, chosen = tf.math.top_k(tf.reshape(candidates, [batch, beam_size * vocab_size]), beam_size)
        parents, ids = chosen // vocab_size, chosen % vocab_size  # (batch, beam_size)

        extended = tf.logical_not(tf.gather(frozen, parents, batch_dims=1))
        lengths = tf.gather(beams.lengths, parents, batch_dims=1) + tf.cast(extended, tf.int32)
        ended = tf.gather(beams.ended, parents, batch_dims=1) | (extended & (ids == EOS_ID))
        return _Beams(
            position=beams.position + 1,
            ids=ids,
            log_probabilities=log_probabilities,
            lengths=lengths,
            ended=ended,
            settled=_settled(log_probabilities, lengths, ended, limits, divisor, n_best),
            state=model.select(state, parents),
            symbols=beams.symbols.write(beams.position, ids),
            parents=beams.parents.write(beams.position, parents),
        )

    start = _Beams(
        position=tf.constant(0),
        ids=tf.fill([batch, beam_size], PAD_ID),
        # Only one beam exists at the start. With more, all beams would be copies of the first.
        log_probabilities=tf.tile([[0.0] + [-np.inf] * (beam_size - 1)], [batch, 1]),
        lengths=tf.zeros([batch, beam_size], tf.int32),
        ended=tf.zeros([batch, beam_size], tf.bool),
        settled=tf.zeros([batch], tf.bool),
        state=model.initial_state(memory, max_length, beam_size),
        symbols=empty_symbols(max_length, [batch, beam_size]),
        parents=empty_symbols(max_length, [batch, beam_size]),
    )
    end = _Beams(*tf.while_loop(lambda *beams: tf.reduce_any(searching(_Beams(*beams))), step, start))
    hypotheses = SearchResult(
        ids=_follow_back(end, max_length),
        scores=end.log_probabilities / divisor(end.lengths),
        log_probabilities=end.log_probabilities,
        lengths=end.lengths,
        ended=end.ended & (end.log_probabilities > -np.inf),
    )
    return best_hypotheses(hypotheses, n_best)


def _settled(
    log_probabilities: tf.Tensor,
    lengths: tf.Tensor,
    ended: tf.Tensor,
    limits: tf.Tensor,
    divisor: Callable[[tf.Tensor], tf.Tensor],
    n_best: int | tf.Tensor,
) -> tf.Tensor:
    """Whether no live beam can enter the `n_best` any more; bool `(batch,)`."""
    exists = log_probabilities > -np.inf
    scores = log_probabilities / divisor(lengths)
    # The best score that a live beam can reach: it ends at the limit and loses no more probability.
    bounds = log_probabilities / divisor(limits)[:, None]
    live = exists & tf.logical_not(ended)
    best_bound = tf.reduce_max(tf.where(live, bounds, -np.inf), axis=1, keepdims=True)
    safe = exists & ended & (scores >= best_bound)
    return tf.logical_not(tf.reduce_any(live, axis=1)) | (tf.math.count_nonzero(safe, axis=1, dtype=tf.int32) >= n_best)


def _follow_back(beams: _Beams, max_length: int | tf.Tensor) -> tf.Tensor:
    """The symbols of each final beam, collected from the last to the first; int32 `(batch, b, max_length)`."""
    batch, beam_size = tf.unstack(tf.shape(beams.ids))

    def step(position, beam, symbols):
        ids = tf.gather(beams.symbols.read(position), beam, batch_dims=1)
        beam = tf.gather(beams.parents.read(position), beam, batch_dims=1)
        return position - 1, beam, symbols.write(position, ids)

    _, _, symbols = tf.while_loop(
        lambda position, *_: position >= 0,
        step,
        (
            beams.position - 1,
            tf.tile(tf.range(beam_size)[None], [batch, 1]),
            empty_symbols(max_length, [batch, beam_size]),
        ),
    )
    return tf.transpose(symbols.stack(), [1, 2, 0])
