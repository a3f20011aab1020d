"""One hypothesis for a line of text."""

from collections.abc import Iterable
from typing import NamedTuple

from bytenet.lite.white_space import is_blank


class Translation(NamedTuple):
    """One hypothesis for a line.

    Attributes:
        text: the translation, without the end symbol.
        score: log-probability over length penalty, plus coverage penalty and the term of a reranker; or the expected
            chrF, see `bytenet.decoding.minimum_bayes_risk`. Hypotheses are ranked by it.
        log_probability: in nats.
        ended: false if the length limit cut the hypothesis off.
    """

    text: str
    score: float
    log_probability: float
    ended: bool


def best_first(translations: Iterable[Translation]) -> list[Translation]:
    """Translations of a line by their scores. Those that ended come first, and those without text last."""
    return without_text_last(sorted(translations, key=lambda translation: (not translation.ended, -translation.score)))


def without_text_last(translations: Iterable[Translation]) -> list[Translation]:
    """Translations of a line in their order, but those without text behind the others."""
    return sorted(translations, key=lambda translation: is_blank(translation.text))


NO_HYPOTHESIS = (
    "The model gives no translation a finite probability: its weights are damaged, or its training diverged. Export or "
    "train it again."
)

BLANK = Translation("", 0.0, 0.0, True)
"""The translation of a blank line."""
