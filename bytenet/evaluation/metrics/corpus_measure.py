"""Measures in two steps, counting sentences and computing the score, so that sentences are counted only once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bytenet.evaluation.metrics.bootstrap import bootstrap_interval, check_parallel
from bytenet.evaluation.metrics.scores import Score


@dataclass(frozen=True)
class CorpusMeasure:
    """A measure that is computed from counts summed over sentences.

    Attributes:
        name: of its scores.
        count: takes hypotheses and their references, and returns the counts of each sentence, float `(sentences, n)`.
        value: takes the counts of one sentence or summed over many, `(n,)`, and returns the score.
        settings: takes the number of resampled corpora and the seed, and returns the settings as text.
        digits: number of printed decimals.
    """

    name: str
    count: Callable[[Sequence[str], Sequence[str]], np.ndarray]
    value: Callable[[np.ndarray], float]
    settings: Callable[[int, int], str]
    digits: int = 2

    def score(self, counts: np.ndarray, bootstrap: int, seed: int) -> Score:
        """Compute the score of a corpus.

        Args:
            counts: float `(sentences, n)`, as `count` returns them.
            bootstrap: number of resampled corpora for the interval; 0 for no interval. A single sentence has none.
            seed: of the resampling.
        """
        interval = bootstrap_interval(counts, self.value, bootstrap, seed)
        return Score(
            name=self.name,
            value=self.value(counts.sum(axis=0)),
            num_sentences=len(counts),
            settings=self.settings(bootstrap if interval else 0, seed),
            interval=interval,
            digits=self.digits,
        )

    def measure(self, hypotheses: Sequence[str], references: Sequence[str], bootstrap: int, seed: int) -> Score:
        """Count and score.

        Raises:
            InputError: the numbers of hypotheses and references differ, or there are none.
        """
        check_parallel(hypotheses, references)
        return self.score(self.count(hypotheses, references), bootstrap, seed)
