"""One or two sets of translations looked at closely: scores, their difference, and the sentences that show it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from bytenet.errors import InputError
from bytenet.evaluation.metrics.bleu import bleu_measures, chrf_measure
from bytenet.evaluation.metrics.bootstrap import DEFAULT_SEED, bootstrap_interval, check_parallel
from bytenet.evaluation.metrics.scores import Score
from bytenet.evaluation.metrics.thesis_bleu import thesis_bleu_measure
from bytenet.markdown import cell, table

Choice = Literal["good", "bad", "worst"]
Measure = Literal["chrf", "bleu"]
CHOICES: tuple[Choice, ...] = ("good", "bad", "worst")
COLUMNS = ("line", "source", "reference")
"""What tables of sentences say before the systems; no names for those."""
CLEARLY = 10.0
"""Points by which a sentence has to be worse in one system than in the other to be called bad."""


@dataclass(frozen=True, eq=False)
class SystemScores:
    """The translations of one system and how good they are.

    Attributes:
        name: of the system.
        hypotheses: its translations.
        bleu: float `(sentences,)`, the thesis's BLEU of each sentence: 0 without a match of four words.
        chrf: float `(sentences,)`, chrF2 of each sentence.
        scores: BLEU, chrF2 and the thesis's BLEU of them all.
    """

    name: str
    hypotheses: Sequence[str]
    bleu: np.ndarray
    chrf: np.ndarray
    scores: tuple[Score, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare_translations` found.

    Attributes:
        sources: the sentences that were translated; None where they are not known.
        references: their translations by people.
        systems: A, and B where there is one.
        differences: each of `scores`, A minus B, with the interval of the paired bootstrap; empty without B.
    """

    sources: Sequence[str] | None
    references: Sequence[str]
    systems: tuple[SystemScores, ...]
    differences: tuple[Score, ...]

    def choose(self, choice: Choice, count: int = 5, by: Measure = "chrf", min_chars: int = 20) -> list[int]:
        """The sentences that show A from one side, the most telling first.

        "good": the highest scores of A. "worst": the lowest. "bad": where A is worse than B by `CLEARLY` points or
        more, the greatest difference first; without B, what lies just below the lower quartile of A's scores: bad
        as A's bad sentences usually are. The other measure decides between equal ones, and then their order. What A
        left empty is never shown, as `summary` counts it.

        Args:
            choice: which.
            count: how many at most.
            by: the sentence score that decides.
            min_chars: characters of the reference; shorter sentences are right or wrong by chance.

        Returns:
            Their indices; none where no reference is that long.
        """
        a = self.systems[0]
        first, second = (a.chrf, a.bleu) if by == "chrf" else (a.bleu, a.chrf)
        long_enough = [index for index, text in enumerate(self.references) if len(text) >= min_chars]
        candidates = [index for index in long_enough if a.hypotheses[index].strip()]
        best_first = choice == "good"
        if choice == "bad" and len(self.systems) == 2:
            gains = a.chrf - self.systems[1].chrf, a.bleu - self.systems[1].bleu
            first, second = gains if by == "chrf" else gains[::-1]
            candidates = [index for index in candidates if first[index] <= -CLEARLY]
        elif choice == "bad" and candidates:
            quartile = np.quantile(first[candidates], 0.25, method="lower")
            candidates = [index for index in candidates if first[index] <= quartile]
            best_first = True
        sign = -1 if best_first else 1
        return sorted(candidates, key=lambda index: (sign * first[index], sign * second[index], index))[:count]

    def wins(self, by: Measure) -> tuple[int, int, int]:
        """In how many sentences A scores higher than B, lower, and, to two decimals, the same."""
        a, b = (np.round(getattr(system, by), 2) for system in self.systems)
        return int((a > b).sum()), int((a < b).sum()), int((a == b).sum())

    def rows(self, indices: Sequence[int]) -> list[dict[str, str | int | float]]:
        """Sentences with line number (from 1), texts, and the scores of every system."""
        rows = []
        for index in indices:
            source = None if self.sources is None else self.sources[index]
            told = zip(COLUMNS, (index + 1, source, self.references[index]), strict=True)
            row: dict[str, str | int | float] = {column: value for column, value in told if value is not None}
            for system in self.systems:
                row[system.name] = system.hypotheses[index]
                row[f"{system.name} thesis-BLEU"] = round(float(system.bleu[index]), 2)
                row[f"{system.name} chrF2"] = round(float(system.chrf[index]), 2)
            rows.append(row)
        return rows

    def summary(self) -> str:
        """The scores of all sentences, in Markdown."""
        head = ["system", *(score.name for score in self.systems[0].scores), "empty"]
        lines = []
        for system in self.systems:
            empty = sum(not text.strip() for text in system.hypotheses)
            lines.append([cell(system.name), *map(_value, system.scores), str(empty)])
        if self.differences:
            lines.append(["difference", *map(_value, self.differences), ""])
        text = f"{table(head, lines)}\n"
        if self.differences:
            a, b = (cell(system.name) for system in self.systems)
            for by, measure in (("chrf", "chrF2"), ("bleu", "thesis-BLEU")):
                wins, losses, ties = self.wins(by)
                text += f"\nSentences by {measure}: {a} higher in {wins}, {b} in {losses}, equal in {ties}.\n"
        return text


def compare_translations(
    sources: Sequence[str] | None,
    references: Sequence[str],
    hypotheses: Mapping[str, Sequence[str]],
    language: str = "en",
    bootstrap: int = 1000,
    seed: int = DEFAULT_SEED,
) -> Comparison:
    """Score one set of translations, or two and their difference.

    Args:
        sources: what was translated; None where it is not known.
        references: the right translations.
        hypotheses: by the name of the system; A first. One or two.
        language: of the translations, for the thesis's tokeniser.
        bootstrap: resampled corpora for the intervals; 0 for none. A and B are drawn the same sentences.
        seed: of the draws.

    Returns:
        Scores of each system and their difference, and those of every sentence.

    Raises:
        InputError: numbers of lines differ, or there are none.

    Reference:
        Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation".
    """
    if sources is not None and len(sources) != len(references):
        raise InputError(f"Found {len(sources)} sources but {len(references)} references; expected as many.")
    # sacreBLEU's own paired test has no interval for the difference, and keeps all resampled corpora in memory.
    measures = (bleu_measures()[0], chrf_measure(), thesis_bleu_measure(language))
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
            interval = bootstrap_interval(np.hstack(pair), partial(_difference, measure.value), bootstrap, seed)
            how = f"paired bootstrap of {bootstrap}, seed {seed}" if bootstrap else ""
            differences.append(Score(f"{a.name} difference", a.value - b.value, a.num_sentences, how, interval))
    return Comparison(sources, references, tuple(systems), tuple(differences))


def _difference(value: Callable[[np.ndarray], float], counts: np.ndarray) -> float:
    a, b = np.split(counts, 2)
    return value(a) - value(b)


def comparison_page(
    comparison: Comparison, choices: Sequence[Choice], count: int = 5, by: Measure = "chrf", min_chars: int = 20
) -> str:
    """Scores and chosen sentences as Markdown; arguments as of `Comparison.choose`."""
    text = comparison.summary()
    for choice in choices:
        rows = comparison.rows(comparison.choose(choice, count, by, min_chars))
        text += f"\n## {_headline(choice, comparison, by)}\n\n"
        if not rows:
            longest = max(map(len, comparison.references))
            too_short = f" No reference has {min_chars} characters; the longest has {longest}."
            text += f"None.{too_short if longest < min_chars else ''}\n"
            continue
        values = [[cell(str(value)) for value in row.values()] for row in rows]
        text += table([cell(name) for name in rows[0]], values) + "\n"
    return text


def _headline(choice: Choice, comparison: Comparison, by: Measure) -> str:
    a, *others = (cell(system.name) for system in comparison.systems)
    measure = "chrF2" if by == "chrf" else "thesis-BLEU"
    if choice == "bad":
        where = f"at least {CLEARLY:g} points below {others[0]}" if others else "just below the lower quartile"
        return f"Bad: {measure} of {a} {where}"
    return f"{'Good: highest' if choice == 'good' else 'Worst: lowest'} {measure} of {a}"


def _value(score: Score) -> str:
    interval = "" if score.interval is None else f" [{score.interval[0]:.2f}, {score.interval[1]:.2f}]"
    return f"{score.value:.2f}{interval}"
