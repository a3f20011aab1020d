"""The share of translations that are exactly right."""

from collections.abc import Sequence

import numpy as np

from bytenet.evaluation.metrics.bootstrap import DEFAULT_SEED, bootstrap_interval, check_parallel
from bytenet.evaluation.metrics.scores import Score


def exact_match(
    hypotheses: Sequence[str], references: Sequence[str], bootstrap: int = 1000, seed: int = DEFAULT_SEED
) -> Score:
    """Share of translations that equal their reference, character by character.

    Args:
        hypotheses: the translations.
        references: their references, in the same order.
        bootstrap: number of resampled corpora for the interval; 0 for no interval.
        seed: of the resampling.

    Returns:
        A `Score` from 0 to 1.

    Raises:
        InputError: the numbers of hypotheses and references differ, or there are none.
    """
    check_parallel(hypotheses, references)
    equal = np.array([[hyp == ref] for hyp, ref in zip(hypotheses, references, strict=True)], np.float64)
    count = len(equal)
    return Score(
        "exact-match",
        float(equal.mean()),
        count,
        interval=bootstrap_interval(equal, lambda total: float(total[0]) / count, bootstrap, seed),
        digits=4,
    )
