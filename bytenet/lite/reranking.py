"""Translations reranked by a model of the other direction."""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

import numpy as np

from bytenet.errors import ConfigError, MissingFileError
from bytenet.lite.length_penalty import LengthPenaltyRule, check_rule, length_penalty_divisor
from bytenet.lite.translation import Translation, best_first

ONE_HYPOTHESIS = (
    "rerank_with needs several hypotheses: set --beam-size (decoding.beam_size) or --samples (decoding.samples) to 2 "
    "or more. For LiteRT, export the model again with a larger beam."
)


@contextmanager
def explaining_missing_reranker() -> Iterator[None]:
    """Add to the message about a missing model what it was for, and how to do without it."""
    try:
        yield
    except MissingFileError as error:
        message = f"rerank_with: {error} To translate without reranking, give --rerank-weight 0."
        raise MissingFileError(message) from error


class Scorer(Protocol):
    """A model that gives the probability of a text."""

    def fits(self, text: str) -> bool:
        """Whether the model can read and write a text: it is not too long, and no character is refused."""

    def __call__(self, sources: Sequence[str], targets: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Score the translations of sources.

        Returns:
            For each pair: log P(target | source) in nats, and the number of symbols of the target. The end symbol
            counts.
        """


_ScorerT = TypeVar("_ScorerT", bound=Scorer)


class Reranker(Generic[_ScorerT]):
    """Adds to each score how likely a model of the other direction makes the source from the translation.

    A translation that leaves something out may be likely, but its source is then unlikely. The score of a translation
    becomes score + `weight` · log P(source | translation) / divisor. The divisor is that of the length penalty, for the
    length of the source.

    Args:
        scorer: a model from the target language to the source language.
        weight: factor of the added term, at least 0.
        length_penalty: alpha of the length penalty.
        length_penalty_rule: of the divisor, see `length_penalty_divisor`.
        name: of the model, for reports.

    Raises:
        ConfigError: `weight` is negative or not finite.
        ValueError: there is no such rule.

    Reference:
        Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models" (the two terms, for
        dialogue); Yee et al. 2019, "Simple and Effective Noisy Channel Modeling for Neural Machine Translation".
    """

    def __init__(
        self,
        scorer: _ScorerT,
        weight: float,
        length_penalty: float,
        length_penalty_rule: LengthPenaltyRule,
        name: str,
    ):
        self.name = name
        self.weight = check_weight(weight)
        self.scorer = scorer
        self._length_penalty = length_penalty
        self._rule = check_rule(length_penalty_rule)

    def __call__(self, lines: Sequence[str], translations: Sequence[Sequence[Translation]]) -> list[list[Translation]]:
        """Rerank the translations of each line. Those that ended come first, and those without text last.

        If the line or one of its translations does not fit the model, see `Scorer.fits`, its order and scores stay.

        Args:
            lines: the sources.
            translations: of each line.
        """
        fits = [
            self.scorer.fits(line) and all(self.scorer.fits(translation.text) for translation in ranked)
            for line, ranked in zip(lines, translations, strict=True)
        ]
        sources = [line for line, ranked, fit in zip(lines, translations, fits, strict=True) if fit for _ in ranked]
        texts = [one.text for ranked, fit in zip(translations, fits, strict=True) if fit for one in ranked]
        log_probabilities, lengths = self.scorer(texts, sources)
        divisors = length_penalty_divisor(lengths.astype(np.float64), self._length_penalty, self._rule)
        added = iter((self.weight * log_probabilities / divisors).tolist())
        return [
            best_first([one._replace(score=one.score + next(added)) for one in ranked]) if fit else list(ranked)
            for ranked, fit in zip(translations, fits, strict=True)
        ]


def check_weight(weight: float) -> float:
    """The weight of a reranker itself.

    Raises:
        ConfigError: it is negative or not finite.
    """
    if not (math.isfinite(weight) and weight >= 0):
        raise ConfigError(f"rerank_weight is {weight}; expected a finite number of at least 0.")
    return weight


def chosen_reranker(
    configured: tuple[str | os.PathLike[str] | None, float],
    given: tuple[str | os.PathLike[str] | None, float | None],
    num_hypotheses: int,
) -> tuple[str | os.PathLike[str], float] | None:
    """The model that reranks, and its weight; None if nothing does.

    Args:
        configured: model and weight of the configuration. None is no model.
        given: what the user asks for instead. None takes the configuration's.
        num_hypotheses: to rerank. A configured model is not used with only one.

    Raises:
        ConfigError: a weight is given and no model is there; a model is given and the configured weight is 0; one of
            them is given and there is one hypothesis; or the weight is negative or not finite.
    """
    model = configured[0] if given[0] is None else given[0]
    weight = check_weight(configured[1] if given[1] is None else given[1])
    if model is None:
        if given[1]:
            raise ConfigError(f"rerank_weight is {given[1]}, but no model is named. Set rerank_with, too.")
        return None
    if given[0] is not None and given[1] is None and not weight:
        raise ConfigError(
            "rerank_with is given, but rerank_weight is 0 in the configuration of the model. Set rerank_weight, too."
        )
    if num_hypotheses == 1 and weight and (given[0] is not None or given[1] is not None):
        raise ConfigError(ONE_HYPOTHESIS)
    return (model, weight) if weight and num_hypotheses > 1 else None
