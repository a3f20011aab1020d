"""Confidence intervals of corpus scores by resampling sentences."""

from collections.abc import Callable, Sequence

import numpy as np

from bytenet.errors import InputError

DEFAULT_SEED = 12345
"""The seed of the resampling, as in sacreBLEU."""


def bootstrap_interval(
    statistics: np.ndarray, score: Callable[[np.ndarray], float], samples: int, seed: int
) -> tuple[float, float] | None:
    """The 95 % interval of a corpus score, by resampling its sentences with replacement.

    The ends of the interval are those of sacreBLEU: with `DEFAULT_SEED`, `(high - low) / 2` is the half-width that
    sacreBLEU reports.

    Args:
        statistics, score, samples, seed: as for `resampled_scores`; 0 samples for no interval.

    Returns:
        (low, high), or None without samples. A single sentence has no interval either: each sample is this sentence.

    Reference:
        Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation".
    """
    if samples == 0 or len(statistics) < 2:
        return None
    return interval_of(resampled_scores(statistics, score, samples, seed))


def interval_of(resampled: np.ndarray) -> tuple[float, float]:
    """The interval (low, high) that has 95 % of some scores `(samples,)`, with the ends of `bootstrap_interval`."""
    values, tail = np.sort(resampled), len(resampled) // 40
    return float(values[tail]), float(values[len(resampled) - tail - 1])


def resampled_scores(
    statistics: np.ndarray, score: Callable[[np.ndarray], float | np.ndarray], samples: int, seed: int
) -> np.ndarray:
    """Scores of corpora whose sentences are drawn from the sentences of a corpus, with replacement.

    The random draws are those of sacreBLEU.

    Args:
        statistics: float `(sentences, n)`, the counts of each sentence.
        score: computes the score, or an array of scores, from summed counts, `(n,)`.
        samples: number of resampled corpora.
        seed: of the resampling.

    Returns:
        Float `(samples,)`, or `(samples, *shape)` if `score` returns arrays.
    """
    count = len(statistics)
    random = np.random.default_rng(seed)
    statistics = np.asarray(statistics, np.float64)
    scores = []
    for _ in range(samples):  # one at a time: for a training set, all draws together need gigabytes
        times = np.bincount(random.choice(count, size=count, replace=True), minlength=count)  # (sentences,)
        scores.append(score(times @ statistics))
    return np.array(scores, np.float64)


def check_parallel(hypotheses: Sequence | np.ndarray, references: Sequence | np.ndarray) -> None:
    """Raise an `InputError` unless there is one reference for each hypothesis, and at least one of both."""
    if len(hypotheses) != len(references):
        raise InputError(
            f"Found {len(hypotheses)} hypotheses but {len(references)} references; expected one reference for each "
            "hypothesis, in the same order."
        )
    if not len(hypotheses):
        raise InputError("There are no sentences to score. Give at least one hypothesis with its reference.")
