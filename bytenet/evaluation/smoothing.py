"""Smoothing of curves."""

from collections.abc import Sequence

import numpy as np


def smooth(values: Sequence[float] | np.ndarray, alpha: float) -> np.ndarray:
    """Exponentially weighted mean of each value and all values before it. The weights sum to one.

    `smoothed[t] = sum over i of (1 - alpha)**i * values[t - i] / sum over i of (1 - alpha)**i`, which is
    `pandas.Series.ewm(alpha=alpha).mean()`. After a NaN, all values are NaN; pandas skips it.

    Args:
        values: `(n,)`, in the order of time.
        alpha: weight of the newest value, above 0 and at most 1 (no smoothing); the thesis's "forget factor".

    Returns:
        float64 `(n,)`.

    Raises:
        ValueError: `alpha` is outside (0, 1].

    Reference:
        Madsen 2017, captions of the figures with curves.
    """
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must be above 0 and at most 1; found {alpha}.")
    smoothed = np.empty(len(values), np.float64)
    total = weight = 0.0
    for index, value in enumerate(values):
        total = (1 - alpha) * total + value
        weight = (1 - alpha) * weight + 1
        smoothed[index] = total / weight
    return smoothed
