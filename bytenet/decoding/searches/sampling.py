"""Translations that are drawn at random, in place of a search."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from bytenet.config import DecodingConfig
from bytenet.config.checks import NonNegative, Positive, PositiveFloat, Share, checked
from bytenet.datasets import PAD_ID
from bytenet.decoding.searches.search import SearchResult, best_hypotheses, check_ranking, with_length_penalty
from bytenet.decoding.searches.symbol_by_symbol import symbol_by_symbol
from bytenet.lite.length_penalty import LengthPenaltyRule
from bytenet.models.translation_model import TranslationModel

_ROUNDING = 1e-5  # more than the share that rounding changes a sum of float32 probabilities by


@checked
class Sampling:
    """How translations are drawn. The names are those of the settings in `DecodingConfig`.

    Attributes:
        samples: number of translations that are drawn for each sentence.
        temperature: logits are divided by it. 1 is the model's distribution; towards 0, samples become greedy search.
        top_k: only the k likeliest symbols are drawn; 0 is all.
        top_p: symbols are drawn only from the smallest set of likeliest ones with at least this probability in all.
            With `top_k`, the k likeliest symbols are taken first, and their probabilities are scaled to sum to 1.
        seed: of the random numbers.

    Raises:
        ValueError: a number is out of its range.

    Reference:
        Fan et al. 2018, "Hierarchical Neural Story Generation" (top_k); Holtzman et al. 2020, "The Curious Case of
        Neural Text Degeneration" (top_p).
    """

    samples: Positive = 1
    temperature: PositiveFloat = DecodingConfig.temperature
    top_k: NonNegative = DecodingConfig.top_k
    top_p: Share = DecodingConfig.top_p
    seed: NonNegative = DecodingConfig.seed

    def random_numbers(self, source_ids: np.ndarray, limits: np.ndarray, max_length: int) -> np.ndarray:
        """Draw the random numbers of a batch. Those of a sentence depend on the seed, the sentence and its limit alone.

        Args:
            source_ids: int32 `(batch, source_length)`, 0 where padded.
            limits: int32 `(batch,)`, the length limit of each sentence.
            max_length: of the search; at least the largest limit.

        Returns:
            float32 `(batch, samples, max_length)`, from 0 to below 1; 0 after the limit of a sentence.
        """
        numbers = np.zeros((len(limits), self.samples, max_length), np.float32)
        for row, ids, limit in zip(numbers, source_ids, limits, strict=True):
            generator = np.random.default_rng([self.seed, *ids[ids != PAD_ID]])
            row[:, :limit] = generator.random((self.samples, limit), np.float32)
        return numbers


def sample(
    model: TranslationModel,
    source_ids: tf.Tensor,
    random_numbers: tf.Tensor,
    sampling: Sampling,
    max_length: int | tf.Tensor | None = None,
    length_penalty: float = 0.0,
    n_best: int | None = None,
    length_limits: tf.Tensor | None = None,
    forbidden_ids: Sequence[int] = (PAD_ID,),
    length_penalty_rule: LengthPenaltyRule = "gnmt",
    min_length: int = 0,
) -> SearchResult:
    """Translate a batch. Each step draws the next symbol of each sample, until every sample has ended.

    A symbol is drawn with the model's probability, after `temperature`, `top_k` and `top_p`, among the symbols that are
    allowed. Samples of a sentence may be equal.

    Call it inside a `tf.function`, as `CompiledSearch` does. Outside it works, but is slow.

    Args:
        model: any `TranslationModel`.
        source_ids: int32 `(batch, source_length)`, 0 where padded.
        random_numbers: float32 `(batch, samples, max_length)` or longer, see `Sampling.random_numbers`. Each is used
            for one symbol.
        sampling: how symbols are drawn. Its seed is not used.
        n_best: number of samples to return for each sentence, those with the best scores; None is all.
        max_length, length_penalty, length_limits, forbidden_ids, length_penalty_rule, min_length: as for `beam_search`.

    Returns:
        `SearchResult` with `n_best` samples for each sentence. The log-probabilities are those of the model, whatever
        `temperature`, `top_k` and `top_p` are.

    Raises:
        ValueError: as for `greedy_search`.
    """
    n_best = sampling.samples if n_best is None else n_best
    check_ranking(n_best, sampling.samples, "samples", length_penalty, length_penalty_rule)
    rows = tf.reshape(random_numbers, [-1, tf.shape(random_numbers)[2]])
    numbers_of_steps = tf.transpose(rows)  # (max_length, rows)
    num_symbols = min(sampling.top_k or model.vocab_size, model.vocab_size)
    # Float32 has no numbers that are much smaller or larger.
    temperature, top_p = np.clip([sampling.temperature, sampling.top_p], 1e-30, 1e30).astype(np.float32)

    def draw(logits, position):
        logits, symbols = tf.math.top_k(logits, num_symbols)  # (rows, num_symbols), likeliest first
        probabilities = tf.nn.softmax((logits - logits[:, :1]) / temperature)
        before = tf.cumsum(probabilities, axis=-1, exclusive=True)
        kept = probabilities > 0
        if sampling.top_p < 1:
            kept &= before < top_p * (1 - _ROUNDING)
        # Each symbol has a piece of the line from 0 to `total`, as long as its probability. A random point chooses one.
        total = tf.reduce_sum(tf.where(kept, probabilities, 0.0), axis=-1)
        point = numbers_of_steps[position] * total
        rank = tf.math.count_nonzero(kept & (before <= point[:, None]), axis=-1, dtype=tf.int32) - 1
        rank = tf.maximum(rank, 0)  # no symbol is kept if the probabilities are not numbers
        return tuple(tf.gather(values, rank, batch_dims=1) for values in (symbols, logits))

    samples = symbol_by_symbol(
        model, source_ids, draw, sampling.samples, max_length, length_limits, forbidden_ids, min_length
    )
    return best_hypotheses(with_length_penalty(samples, length_penalty, length_penalty_rule), n_best)
