"""The loop of greedy search and sampling, where hypotheses do not compete."""

from collections.abc import Callable, Sequence

import tensorflow as tf

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.decoding.searches.search import (
    SearchResult,
    empty_symbols,
    length_limits_or_default,
    symbol_offsets,
)
from bytenet.models.translation_model import TranslationModel

Choice = Callable[[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]
"""Chooses the next symbol of each hypothesis.

Its arguments are the logits, float32 `(rows, vocab_size)`, −inf for symbols that are not allowed; and the position, an
int32 scalar. A row is a hypothesis, and the hypotheses of a sentence follow each other. It returns the chosen ids,
int32 `(rows,)`, and their logits, float32 `(rows,)`.
"""


def symbol_by_symbol(
    model: TranslationModel,
    source_ids: tf.Tensor,
    choose: Choice,
    num_hypotheses: int,
    max_length: int | tf.Tensor | None,
    length_limits: tf.Tensor | None,
    forbidden_ids: Sequence[int],
    min_length: int,
) -> SearchResult:
    """Translate a batch. Each step chooses one symbol for each hypothesis, until all have ended.

    Args:
        model: any `TranslationModel`.
        source_ids: int32 `(batch, source_length)`, 0 where padded.
        choose: chooses the symbols.
        num_hypotheses: number n of hypotheses of each sentence.
        max_length, length_limits, min_length: as for `greedy_search`.
        forbidden_ids: symbols whose logits are −inf for `choose`.

    Returns:
        `SearchResult` with n hypotheses for each sentence, which are not ranked. Their scores are their
        log-probabilities.

    Raises:
        ValueError: as for `greedy_search`.
    """
    source_ids = tf.convert_to_tensor(source_ids, tf.int32)
    max_length, limits = length_limits_or_default(model, source_ids, max_length, length_limits)
    limits = tf.repeat(limits, num_hypotheses)
    rows, known_batch = tf.size(limits), source_ids.shape[0]
    memory = model.encode(source_ids)
    model_step = model.make_step()
    offsets = symbol_offsets(model.vocab_size, forbidden_ids, min_length)

    def is_live(position, ended):
        return tf.logical_not(ended) & (position < limits)  # (rows,)

    def unfinished(position, previous_ids, log_probabilities, lengths, ended, state, symbols):
        return tf.reduce_any(is_live(position, ended))

    def step(position, previous_ids, log_probabilities, lengths, ended, state, symbols):
        live = is_live(position, ended)
        logits, state = model_step(previous_ids, state, memory, position)
        logits = tf.cast(logits, tf.float32)
        # A model may lose a batch size that is known.
        logits.set_shape([None if known_batch is None else known_batch * num_hypotheses, model.vocab_size])
        chosen, logits_of_chosen = choose(logits + offsets(position), position)
        ids = tf.where(live, chosen, PAD_ID)
        # The log-softmax of the chosen symbols alone.
        log_probabilities += tf.where(live, logits_of_chosen - tf.reduce_logsumexp(logits, axis=-1), 0.0)
        lengths += tf.cast(live, tf.int32)
        ended |= live & (ids == EOS_ID)
        return position + 1, ids, log_probabilities, lengths, ended, state, symbols.write(position, ids)

    _, _, log_probabilities, lengths, ended, _, symbols = tf.while_loop(
        unfinished,
        step,
        (
            tf.constant(0),
            tf.fill([rows], PAD_ID),
            tf.zeros([rows]),
            tf.zeros([rows], tf.int32),
            tf.zeros([rows], tf.bool),
            model.initial_state(memory, max_length, num_hypotheses),
            empty_symbols(max_length, [rows]),
        ),
    )
    shape = [-1, num_hypotheses]
    log_probabilities = tf.reshape(log_probabilities, shape)
    return SearchResult(
        ids=tf.reshape(tf.transpose(symbols.stack()), [*shape, max_length]),
        scores=log_probabilities,
        log_probabilities=log_probabilities,
        lengths=tf.reshape(lengths, shape),
        ended=tf.reshape(ended, shape),
    )
