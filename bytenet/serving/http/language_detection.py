"""Which of a server's languages a text is written in."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from bytenet.lite.languages import base_language


class LanguageDetector:
    """Ranks the languages that a server reads.

    The confidence of a language is its probability among all 140 labels of py3langid, also those that the server does
    not read. So it is low for every language of the server if the text is in another one, and for short texts.

    Args:
        languages: codes of the languages to choose from.
    """

    def __init__(self, languages: Sequence[str]):
        self._languages = languages

    def rank(self, text: str) -> list[tuple[str, float]]:
        """The languages with their confidence from 0 to 100, most probable first. The first call takes a second."""
        probabilities = dict(_identifier().rank(text))
        percents = {code: 100 * probabilities.get(base_language(code), 0.0) for code in self._languages}
        ranked = sorted(percents.items(), key=lambda language: -language[1])
        return [(code, round(percent, 1)) for code, percent in ranked]


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
