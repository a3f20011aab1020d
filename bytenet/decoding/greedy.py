"""Greedy search."""

from collections.abc import Sequence

import tensorflow as tf

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.decoding.search import (
    SearchResult,
    empty_symbols,
    length_limits_or_default,
    log_probability_offsets,
    no_early_end,
)
from bytenet.models.translation_model import TranslationModel


def greedy_search(
    model: TranslationModel,
    source_ids: tf.Tensor,
    max_length: int | tf.Tensor | None = None,
    length_limits: tf.Tensor | None = None,
    forbidden_ids: Sequence[int] = (PAD_ID,),
    min_length: int = 0,
) -> SearchResult:
    """Translate a batch. Each step takes the likeliest symbol, until every sentence has ended.

    Call it inside a `tf.function`, as `CompiledSearch` does. Outside it works, but is slow.

    Args:
        model: any `TranslationModel`.
        source_ids: int32 `(batch, source_length)`, 0 where padded.
        max_length: largest number of symbols of a hypothesis, with the end symbol, an int or an int32
            scalar; None is `model.max_target_length(source_length)`.
        length_limits: int32 `(batch,)`, the limit of each sentence, at most `max_length`; 0 leaves a row out.
        forbidden_ids: symbols that are never chosen. The thesis forbids none.
        min_length: least number of symbols of a hypothesis, with the end symbol.

    Returns:
        `SearchResult` with one hypothesis for each sentence. Its score is its log-probability.

    Raises:
        ValueError: `max_length` is below 1.
    """
    source_ids = tf.convert_to_tensor(source_ids, tf.int32)
    max_length, limits = length_limits_or_default(model, source_ids, max_length, length_limits)
    batch = tf.shape(source_ids)[0]
    memory = model.encode(source_ids)
    model_step = model.make_step()
    offsets = log_probability_offsets(model.vocab_size, forbidden_ids)

    def is_live(position, ended):
        return tf.logical_not(ended) & (position < limits)

    def unfinished(position, previous_ids, log_probabilities, lengths, ended, state, symbols):
        return tf.reduce_any(is_live(position, ended))

    def step(position, previous_ids, log_probabilities, lengths, ended, state, symbols):
        live = is_live(position, ended)
        logits, state = model_step(previous_ids, state, memory, position)
        logits = tf.cast(logits, tf.float32)  # (batch, vocab_size)
        logits.set_shape([source_ids.shape[0], model.vocab_size])  # a model may lose a batch size that is known
        allowed = logits + offsets + no_early_end(model.vocab_size, position, min_length)
        ids = tf.where(live, tf.argmax(allowed, axis=-1, output_type=tf.int32), PAD_ID)
        # The log-softmax of the best symbol alone.
        best = tf.reduce_max(allowed, axis=-1) - tf.reduce_logsumexp(logits, axis=-1)
        log_probabilities += tf.where(live, best, 0.0)
        lengths += tf.cast(live, tf.int32)
        ended |= live & (ids == EOS_ID)
        return position + 1, ids, log_probabilities, lengths, ended, state, symbols.write(position, ids)

    _, _, log_probabilities, lengths, ended, _, symbols = tf.while_loop(
        unfinished,
        step,
        (
            tf.constant(0),
            tf.fill([batch], PAD_ID),
            tf.zeros([batch]),
            tf.zeros([batch], tf.int32),
            tf.zeros([batch], tf.bool),
            model.initial_state(memory, max_length),
            empty_symbols(max_length, [batch]),
        ),
    )
    ids = tf.transpose(symbols.stack())  # (batch, max_length)
    return SearchResult(
        ids=ids[:, None],
        scores=log_probabilities[:, None],
        log_probabilities=log_probabilities[:, None],
        lengths=lengths[:, None],
        ended=ended[:, None],
    )
