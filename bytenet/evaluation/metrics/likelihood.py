"""The likelihood of references under a model."""

import math
from collections.abc import Sequence

import numpy as np

from bytenet.evaluation.metrics.bootstrap import DEFAULT_SEED, bootstrap_interval, check_parallel
from bytenet.evaluation.metrics.scores import Score


def bits_per_character(
    log_probabilities: Sequence[float] | np.ndarray,
    num_characters: Sequence[int] | np.ndarray,
    bootstrap: int = 1000,
    seed: int = DEFAULT_SEED,
) -> Score:
    """Mean cost of a target character in bits, end symbols counted.

    Args:
        log_probabilities: `(sentences,)`, of each target sentence, in nats.
        num_characters: `(sentences,)`, of each target sentence, end symbol counted.
        bootstrap: number of resampled corpora for the interval; 0 for no interval.
        seed: of the resampling.

    Returns:
        A `Score`, at least 0; lower is better.

    Raises:
        InputError: the arguments have different lengths, or are empty.
    """
    check_parallel(log_probabilities, num_characters)
    statistics = np.array([log_probabilities, num_characters], np.float64).T  # (sentences, 2)

    def score(sums: np.ndarray) -> float:
        return float(-sums[0] / sums[1] / math.log(2))

    return Score(
        "bits-per-character",
        score(statistics.sum(axis=0)),
        len(statistics),
        settings="teacher forced, end symbol counted",
        interval=bootstrap_interval(statistics, score, bootstrap, seed),
        digits=4,
    )
