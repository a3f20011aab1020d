"""Translations ranked again by a model of the other direction."""

import os
from collections.abc import Sequence
from typing import Any, Self

from bytenet.datasets import Vocabulary
from bytenet.decoding.scoring import PairScorer
from bytenet.decoding.search import LengthPenaltyRule, length_penalty_divisor
from bytenet.errors import InputError
from bytenet.lite.translation import Translation
from bytenet.model_file import open_model
from bytenet.models.translation_model import TranslationModel


class Reranker:
    """Adds to each score how likely a model of the other direction makes the source from the translation.

    A translation that leaves something out may be likely, but its source is then unlikely. The score of a translation
    becomes score + `weight` · log P(source | translation) / divisor. The divisor is that of the length penalty, for the
    length of the source.

    Args:
        model: any `TranslationModel` from the target language to the source language.
        vocabulary: of this model.
        weight: factor of the added term.
        length_penalty: alpha of `beam_search`.
        length_penalty_rule: "gnmt" or "length", see `beam_search`.
        batch_size: number of pairs that are scored at once.
        trained_lengths: as for `Translator`, of this model.
        row_factor: as for `Translator`.
        name: of the model, for reports.

    Reference:
        Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models" (the two terms, for
        dialogue); Yee et al. 2019, "Simple and Effective Noisy Channel Modeling for Neural Machine Translation".
    """

    def __init__(
        self,
        model: TranslationModel,
        vocabulary: Vocabulary,
        weight: float = 1.0,
        length_penalty: float = 0.6,
        length_penalty_rule: LengthPenaltyRule = "gnmt",
        batch_size: int = 32,
        trained_lengths: Sequence[int] | None = None,
        row_factor: int = 2,
        name: str = "",
    ):
        self.name = name
        self.weight = weight
        self._longest = model.length_policy.longest
        self._length_penalty = length_penalty
        self._rule: LengthPenaltyRule = length_penalty_rule
        self._vocabulary = vocabulary
        self._scorer = PairScorer(model, vocabulary, batch_size, trained_lengths, row_factor)

    @classmethod
    def open(cls, path: str | os.PathLike[str], languages: tuple[str, str], **options: Any) -> Self:
        """Load the model of the other direction.

        Args:
            path: run folder, `.bytenet` file, or name of a model that ships.
            languages: that the translator reads and writes.
            **options: arguments of the class.

        Raises:
            InputError: there is no such model, it cannot be loaded, or it does not translate back.
        """
        folder = open_model(path)
        source, target = languages
        if folder.config.data.languages != (target, source):
            raise InputError(
                f"rerank_with: {path} translates {' to '.join(folder.config.data.languages)}; expected a model from "
                f"{target} to {source}, the other direction."
            )
        return cls(
            folder.load_model(),
            folder.vocabulary,
            trained_lengths=folder.trained_lengths,
            name=os.fspath(path),
            **options,
        )

    def __call__(self, lines: Sequence[str], translations: Sequence[Sequence[Translation]]) -> list[list[Translation]]:
        """Rank the translations of each line again. Those that ended come first.

        If a line or one of its translations is too long for the model, the order and the scores of this line stay.

        Args:
            lines: the sources.
            translations: of each line.

        Raises:
            InputError: a text has an unknown character, and the vocabulary of the model refuses it.
        """
        fits = [
            self._fits(line) and all(self._fits(translation.text) for translation in ranked)
            for line, ranked in zip(lines, translations, strict=True)
        ]
        sources = [line for line, ranked, fit in zip(lines, translations, fits, strict=True) if fit for _ in ranked]
        texts = [one.text for ranked, fit in zip(translations, fits, strict=True) if fit for one in ranked]
        scores = self._scorer(texts, sources)
        divisors = length_penalty_divisor(scores.num_characters, self._length_penalty, self._rule).numpy()
        added = iter((self.weight * scores.log_probabilities / divisors).tolist())
        return [
            _ranked([one._replace(score=one.score + next(added)) for one in ranked]) if fit else list(ranked)
            for ranked, fit in zip(translations, fits, strict=True)
        ]

    def make_graphs(self, longest: int) -> None:
        """Make the graphs of all pairs of up to `longest` symbols in advance, as `Translator.make_graphs`."""
        self._scorer.make_graphs(longest if self._longest is None else min(longest, self._longest))

    def _fits(self, text: str) -> bool:
        return self._longest is None or len(self._vocabulary.encode(text)) <= self._longest


def _ranked(translations: Sequence[Translation]) -> list[Translation]:
    return sorted(translations, key=lambda translation: (not translation.ended, -translation.score))
