"""Coverage, by which hypotheses of models with attention may be ranked."""

import numpy as np


def coverage(alignment: np.ndarray) -> float:
    """How well a translation covers its source: Σ_s log(min(Σ_t attention(t, s), 1)), at most 0.

    Args:
        alignment: float `(T, S)`.

    Reference:
        Wu et al. 2016, "Google's Neural Machine Translation System", equation 14.
    """
    attended = np.minimum(alignment.sum(axis=0), 1.0)
    return float(np.log(np.maximum(attended, 1e-10)).sum())
