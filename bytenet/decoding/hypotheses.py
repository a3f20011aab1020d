"""The hypotheses of a search."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bytenet.datasets import EOS_ID
from bytenet.decoding.search import SearchResult


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
    """The hypotheses of each sentence of a batch, best first."""
    arrays = (result.ids, result.scores, result.log_probabilities, result.ended)
    for row in zip(*(array.numpy() for array in arrays), strict=True):
        yield [
            Hypothesis(ids[: _end_of(ids)], float(score), float(log_probability), bool(ended))
            for ids, score, log_probability, ended in zip(*row, strict=True)
            if np.isfinite(log_probability)
        ]


def _end_of(ids: np.ndarray) -> int:
    """The number of symbols of a hypothesis with its end symbol, in an array that is padded after it."""
    ends = np.flatnonzero(ids == EOS_ID)
    return int(ends[0]) + 1 if len(ends) else len(ids)
