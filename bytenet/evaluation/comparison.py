"""One or two systems compared by their translations: scores, differences, and sentences that show them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from bytenet.errors import InputError
from bytenet.evaluation.metrics.bleu import bleu_measures, chrf_measure
from bytenet.evaluation.metrics.bootstrap import DEFAULT_SEED, check_parallel, interval_of, resampled_scores
from bytenet.evaluation.metrics.corpus_measure import CorpusMeasure
from bytenet.evaluation.metrics.scores import Score
from bytenet.evaluation.metrics.thesis_bleu import thesis_bleu_measure

Choice = Literal["good", "bad", "worst"]
Measure = Literal["chrf", "bleu"]
CHOICES: tuple[Choice, ...] = ("good", "bad", "worst")
COLUMNS = ("line", "source", "reference")
"""The first columns of tables of sentences. No system may have such a name."""
CLEAR_DIFFERENCE = 10.0
"""A sentence is bad if its score is at least this many points below that of the other system."""


@dataclass(frozen=True, eq=False)
class SystemScores:
    """The translations of one system and their scores.

    Attributes:
        name: of the system.
        hypotheses: its translations.
        bleu: float `(sentences,)`, the thesis's BLEU of each sentence. It is 0 without a match of four words.
        chrf: float `(sentences,)`, chrF2 of each sentence.
        scores: BLEU, chrF2 and the thesis's BLEU of all sentences.
    """

    name: str
    hypotheses: Sequence[str]
    bleu: np.ndarray
    chrf: np.ndarray
    scores: tuple[Score, ...]

    @property
    def num_empty(self) -> int:
        """Number of translations without any text."""
        return sum(not text.strip() for text in self.hypotheses)

    def to_dict(self) -> dict[str, Any]:
        """Name and scores, for JSON."""
        return {"name": self.name, "num_empty": self.num_empty, "scores": [score.to_dict() for score in self.scores]}


@dataclass(frozen=True)
class Difference(Score):
    """The difference of two scores.

    Attributes:
        p_value: of the paired bootstrap; None without an interval, or if the scores are equal on all resampled corpora.
    """

    p_value: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """All attributes, unrounded, for JSON."""
        return {**super().to_dict(), "p_value": self.p_value}


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of `compare_translations`.

    Attributes:
        sources: the source sentences; None if they are not known.
        references: their correct translations.
        systems: A, and B if there are two.
        differences: A minus B for each of `scores`, with the interval and the p-value of the paired bootstrap; empty
            without B.
    """

    sources: Sequence[str] | None
    references: Sequence[str]
    systems: tuple[SystemScores, ...]
    differences: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything except the sentences, unrounded, for JSON."""
        return {
            "systems": [system.to_dict() for system in self.systems],
            "differences": [difference.to_dict() for difference in self.differences],
        }

    def choose(self, choice: Choice, count: int = 5, by: Measure = "chrf", min_chars: int = 20) -> list[int]:
        """Choose good, bad or worst sentences of A.

        "good": the highest scores of A. "worst": the lowest scores of A. "bad" with two systems: sentences in which A
        is at least `CLEAR_DIFFERENCE` points below B, the greatest difference first. "bad" with one system: the scores
        just below the lower quartile of A, that is, bad sentences that are typical for A. The other measure decides
        between equal scores, then the order of the sentences. Empty translations of A are never chosen.

        Args:
            choice: which sentences.
            count: most sentences.
            by: the sentence score that decides.
            min_chars: fewest characters of the reference. Shorter sentences are right or wrong by chance.

        Returns:
            The indices of the sentences; none if no reference is so long.

        Raises:
            ValueError: there is no such `choice` or `by`.
        """
        for name, value, known in (("choice", choice, CHOICES), ("by", by, get_args(Measure))):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; expected {', '.join(known)}.")
        a = self.systems[0]
        first, second = (a.chrf, a.bleu) if by == "chrf" else (a.bleu, a.chrf)
        long_enough = [index for index, text in enumerate(self.references) if len(text) >= min_chars]
        candidates = [index for index in long_enough if a.hypotheses[index].strip()]
        best_first = choice == "good"
        if choice == "bad" and len(self.systems) == 2:
            gains = a.chrf - self.systems[1].chrf, a.bleu - self.systems[1].bleu
            first, second = gains if by == "chrf" else gains[::-1]
            candidates = [index for index in candidates if first[index] <= -CLEAR_DIFFERENCE]
        elif choice == "bad" and candidates:
            quartile = np.quantile(first[candidates], 0.25, method="lower")
            candidates = [index for index in candidates if first[index] <= quartile]
            best_first = True
        sign = -1 if best_first else 1
        return sorted(candidates, key=lambda index: (sign * first[index], sign * second[index], index))[:count]

    def wins(self, by: Measure) -> tuple[int, int, int]:
        """Number of sentences in which A scores higher than B, lower than B, and the same to two decimals.

        It needs two systems.
        """
        a, b = (np.round(getattr(system, by), 2) for system in self.systems)
        return int((a > b).sum()), int((a < b).sum()), int((a == b).sum())

    def rows(self, indices: Sequence[int]) -> list[dict[str, str | int | float]]:
        """Sentences with their line numbers (from 1), their texts, and the scores of every system."""
        rows = []
        for index in indices:
            source = None if self.sources is None else self.sources[index]
            texts = zip(COLUMNS, (index + 1, source, self.references[index]), strict=True)
            row: dict[str, str | int | float] = {column: value for column, value in texts if value is not None}
            for system in self.systems:
                row[system.name] = system.hypotheses[index]
                row[f"{system.name} thesis-BLEU"] = round(float(system.bleu[index]), 2)
                row[f"{system.name} chrF2"] = round(float(system.chrf[index]), 2)
            rows.append(row)
        return rows


def corpus_measures(language: str) -> tuple[CorpusMeasure, ...]:
    """BLEU, chrF2 and the thesis's BLEU. Both kinds of BLEU split words by the rules of the language."""
    return bleu_measures(language)[0], chrf_measure(), thesis_bleu_measure(language)


def compare_translations(
    sources: Sequence[str] | None,
    references: Sequence[str],
    hypotheses: Mapping[str, Sequence[str]],
    language: str = "en",
    bootstrap: int = 1000,
    seed: int = DEFAULT_SEED,
) -> Comparison:
    """Score one set of translations, or two sets and their difference.

    Args:
        sources: the source sentences; None if they are not known.
        references: the correct translations.
        hypotheses: translations by the name of the system; one or two, A first.
        language: of the translations, for the tokenisers of BLEU and of the thesis's BLEU.
        bootstrap: number of resampled corpora for the intervals; 0 for none. A and B get the same sentences. A single
            sentence has no interval.
        seed: of the resampling.

    Raises:
        InputError: the numbers of lines differ, there are no lines, or a name of a system is that of another column of
            `Comparison.rows`.
        ValueError: there are not one or two systems.

    Reference:
        Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation".
    """
    if len(hypotheses) not in (1, 2):
        raise ValueError(f"Found {len(hypotheses)} systems; expected one, or two to compare.")
    _check_names(hypotheses)
    if sources is not None and len(sources) != len(references):
        numbers = f"{len(sources)} sources but {len(references)} references"
        raise InputError(f"Found {numbers}; expected the same number.")
    # sacreBLEU's own paired test has no interval for the difference, and keeps all resampled corpora in memory.
    measures = corpus_measures(language)
    systems, counts = [], []
    for name, lines in hypotheses.items():
        check_parallel(lines, references)
        counts.append([measure.count(lines, references) for measure in measures])
        scores = tuple(
            measure.score(of_measure, bootstrap, seed) for measure, of_measure in zip(measures, counts[-1], strict=True)
        )
        sentence_chrf, sentence_bleu = (
            np.array([measure.value(row) for row in rows])
            for measure, rows in zip(measures[1:], counts[-1][1:], strict=True)
        )
        systems.append(SystemScores(name, lines, sentence_bleu, sentence_chrf, scores))
    differences = []
    if len(systems) == 2:
        for a, b, measure, *pair in zip(systems[0].scores, systems[1].scores, measures, *counts, strict=True):
            difference, interval, p_value, settings = a.value - b.value, None, None, ""
            if bootstrap and len(references) > 1:
                resampled = resampled_scores(np.hstack(pair), partial(_difference, measure.value), bootstrap, seed)
                interval, p_value = interval_of(resampled), _p_value(resampled, difference)
                settings = f"paired bootstrap of {bootstrap}, seed {seed}"
            name = f"{a.name} difference"
            differences.append(
                Difference(name, difference, a.num_sentences, settings, interval, a.digits, p_value=p_value)
            )
    return Comparison(sources, references, tuple(systems), tuple(differences))


def _check_names(names: Collection[str]) -> None:
    columns = [*COLUMNS, *(name + end for name in names for end in ("", " thesis-BLEU", " chrF2"))]
    if len(set(columns)) < len(columns):
        raise InputError(
            f"Systems are named {', '.join(names)}; two columns of the table would have the same name. Rename one."
        )


def _difference(value: Callable[[np.ndarray], float], counts: np.ndarray) -> float:
    a, b = np.split(counts, 2)
    return value(a) - value(b)


def _p_value(resampled: np.ndarray, difference: float) -> float | None:
    """The p-value of the paired bootstrap, by the definition of `sacrebleu.significance`.

    It is (n + 1) / (samples + 1). n is the number of resampled corpora with |d| - mean(|d|) > |difference|, where d is
    the difference on a resampled corpus. If nearly all d have the same sign, this is a one-sided test. None if the
    systems are equal on all resampled corpora: sacreBLEU's definition then gives the smallest value.

    Args:
        resampled: float `(samples,)`, the differences on the resampled corpora.
        difference: on the corpus itself.
    """
    if not resampled.any():
        return None
    distances = np.abs(resampled)
    return float((distances - distances.mean() > abs(difference)).sum() + 1) / (len(resampled) + 1)
