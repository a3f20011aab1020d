"""Greedy search."""

from collections.abc import Sequence

import tensorflow as tf

from bytenet.datasets import PAD_ID
from bytenet.decoding.searches.search import SearchResult, check_ranking, with_length_penalty
from bytenet.decoding.searches.symbol_by_symbol import symbol_by_symbol
from bytenet.lite.length_penalty import LengthPenaltyRule
from bytenet.models.translation_model import TranslationModel


def greedy_search(
    model: TranslationModel,
    source_ids: tf.Tensor,
    max_length: int | tf.Tensor | None = None,
    length_limits: tf.Tensor | None = None,
    forbidden_ids: Sequence[int] = (PAD_ID,),
    min_length: int = 0,
    length_penalty: float = 0.0,
    length_penalty_rule: LengthPenaltyRule = "gnmt",
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
        length_penalty, length_penalty_rule: of the scores, as for `beam_search`. They change no symbol.

    Returns:
        `SearchResult` with one hypothesis for each sentence.

    Raises:
        ValueError: a number is out of its range; `max_length` is above the longest target that the model can read; a
            forbidden id is not in the vocabulary; or no symbol can be chosen. Tensors are not checked.
    """
    check_ranking(1, 1, "beam_size", length_penalty, length_penalty_rule)

    def likeliest(logits, position):
        return tf.argmax(logits, axis=-1, output_type=tf.int32), tf.reduce_max(logits, axis=-1)

    result = symbol_by_symbol(model, source_ids, likeliest, 1, max_length, length_limits, forbidden_ids, min_length)
    return with_length_penalty(result, length_penalty, length_penalty_rule)
