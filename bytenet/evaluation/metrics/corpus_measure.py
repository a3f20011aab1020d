"""Measures of a corpus taken apart, so that what its sentences count is counted once, whatever is asked of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bytenet.evaluation.metrics.bootstrap import bootstrap_interval, check_parallel
from bytenet.evaluation.metrics.scores import Score


@dataclass(frozen=True)
class CorpusMeasure:
    """A measure that is made of counts summed over sentences.

    Attributes:
        name: of its scores.
        count: from hypotheses and references, as many, to float `(sentences, n)`.
        value: from counts `(n,)` of one sentence or summed over many to the score of those.
        settings: from the number of resampled corpora and their seed to how it is measured, in words.
        digits: decimals that are printed.
    """

    name: str
    count: Callable[[Sequence[str], Sequence[str]], np.ndarray]
    value: Callable[[np.ndarray], float]
    settings: Callable[[int, int], str]
    digits: int = 2

    def score(self, counts: np.ndarray, bootstrap: int, seed: int) -> Score:
        """The score of a corpus that was counted.

        Args:
            counts: float `(sentences, n)`.
            bootstrap: resampled corpora for the interval; 0 for no interval.
            seed: of the resampling.
        """
        return Score(
            name=self.name,
            value=self.value(counts.sum(axis=0)),
            num_sentences=len(counts),
            settings=self.settings(bootstrap, seed),
            interval=bootstrap_interval(counts, self.value, bootstrap, seed),
            digits=self.digits,
        )

    def measure(self, hypotheses: Sequence[str], references: Sequence[str], bootstrap: int, seed: int) -> Score:
        """Count and score.

        Raises:
            InputError: numbers of hypotheses and references differ, or there are none.
        """
        check_parallel(hypotheses, references)
        return self.score(self.count(hypotheses, references), bootstrap, seed)
