"""Confidence intervals of corpus scores by resampling sentences."""

from collections.abc import Callable, Sequence

import numpy as np

from bytenet.errors import InputError

DEFAULT_SEED = 12345
"""Of the draws, as in sacreBLEU."""


def bootstrap_interval(
    statistics: np.ndarray, score: Callable[[np.ndarray], float], samples: int, seed: int
) -> tuple[float, float] | None:
    """The 95 % interval of a corpus score when its sentences are drawn anew with replacement.

    The draws and the ends of the interval are sacreBLEU's: with `DEFAULT_SEED`, `(high - low) / 2` is
    the half-width that sacreBLEU reports.

    Args:
        statistics: float `(sentences, n)`, what each sentence adds to the counts that the score is made of.
        score: the score of summed counts, `(n,)`.
        samples: number of resampled corpora; 0 for no interval.
        seed: of the draws.

    Returns:
        (low, high), or None without samples.

    Reference:
        Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation".
    """
    if samples == 0:
        return None
    count = len(statistics)
    random = np.random.default_rng(seed)
    statistics = np.asarray(statistics, np.float64)
    values = []
    for _ in range(samples):  # one by one, as all draws at once need gigabytes for a training set
        times = np.bincount(random.choice(count, size=count, replace=True), minlength=count)  # (sentences,)
        values.append(score(times @ statistics))
    values.sort()
    tail = samples // 40
    return float(values[tail]), float(values[samples - tail - 1])


def check_parallel(hypotheses: Sequence, references: Sequence) -> None:
    """Raise `InputError` unless there is one reference for each hypothesis and at least one of both."""
    if len(hypotheses) != len(references):
        raise InputError(
            f"Found {len(hypotheses)} hypotheses but {len(references)} references; a score needs exactly one "
            "reference for each hypothesis, in the same order."
        )
    if not len(hypotheses):
        raise InputError("There are no sentences to score; give at least one hypothesis with its reference.")
