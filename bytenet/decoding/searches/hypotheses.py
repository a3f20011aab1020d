"""The hypotheses of a search."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bytenet.decoding.searches.search import SearchResult
from bytenet.errors import ModelError
from bytenet.lite.translation import NO_HYPOTHESIS


class Hypothesis(NamedTuple):
    """One hypothesis of a search.

    Attributes:
        ids: int32 `(T,)`, with the end symbol if the hypothesis has one, without padding after it.
        score: hypotheses are ranked by it.
        log_probability: in nats.
        ended: whether it has an end symbol.
    """

    ids: np.ndarray
    score: float
    log_probability: float
    ended: bool


def hypotheses_of(result: SearchResult) -> Iterator[list[Hypothesis]]:
    """The hypotheses of each sentence of a batch, best first.

    Raises:
        ModelError: a sentence has no hypothesis with a finite probability.
    """
    arrays = (result.ids, result.scores, result.log_probabilities, result.lengths, result.ended)
    for row in zip(*(array.numpy() for array in arrays), strict=True):
        hypotheses = [
            Hypothesis(ids[:length], float(score), float(log_probability), bool(ended))
            for ids, score, log_probability, length, ended in zip(*row, strict=True)
            if np.isfinite(log_probability)
        ]
        if not hypotheses:
            raise ModelError(NO_HYPOTHESIS)
        yield hypotheses
