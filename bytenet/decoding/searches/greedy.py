"""Greedy search."""

from collections.abc import Sequence

import tensorflow as tf

from bytenet.datasets import PAD_ID
from bytenet.decoding.searches.search import SearchResult
from bytenet.decoding.searches.symbol_by_symbol import symbol_by_symbol
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
        length_limits: int32 `(batch,)`, the limit of each sentence, at most `max_length`; 0 for a row that only fills
            the batch: it gets no symbols.
        forbidden_ids: symbols that are never chosen. The thesis forbids none.
        min_length: least number of symbols of a hypothesis, with the end symbol; 0 or 1 is no limit.

    Returns:
        `SearchResult` with one hypothesis for each sentence. Its score is its log-probability.

    Raises:
        ValueError: `max_length` is below 1, or a forbidden id is not in the vocabulary.
    """

    def likeliest(logits, position):
        return tf.argmax(logits, axis=-1, output_type=tf.int32), tf.reduce_max(logits, axis=-1)

    return symbol_by_symbol(model, source_ids, likeliest, 1, max_length, length_limits, forbidden_ids, min_length)
