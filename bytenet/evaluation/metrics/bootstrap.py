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

    The random draws and the ends of the interval are those of sacreBLEU: with `DEFAULT_SEED`, `(high - low) / 2` is the
    half-width that sacreBLEU reports.

    Args:
        statistics: float `(sentences, n)`, the counts of each sentence.
        score: computes the score from summed counts, `(n,)`.
        samples: number of resampled corpora; 0 for no interval.
        seed: of the resampling.

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
    for _ in range(samples):  # one at a time: for a training set, all draws together need gigabytes
        times = np.bincount(random.choice(count, size=count, replace=True), minlength=count)  # (sentences,)
        values.append(score(times @ statistics))
    values.sort()
    tail = samples // 40
    return float(values[tail]), float(values[samples - tail - 1])


def check_parallel(hypotheses: Sequence | np.ndarray, references: Sequence | np.ndarray) -> None:
    """Raise an `InputError` unless there is one reference for each hypothesis, and at least one of both."""
    if len(hypotheses) != len(references):
        raise InputError(
            f"Found {len(hypotheses)} hypotheses but {len(references)} references; expected one reference for each "
            "hypothesis, in the same order."
        )
    if not len(hypotheses):
        raise InputError("There are no sentences to score. Give at least one hypothesis with its reference.")
