"""What the engines for trained models share."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from bytenet.lite.sentences import max_sentence_chars
from bytenet.lite.translation import Translation
from bytenet.lite.white_space import is_blank
from bytenet.model_file import ModelFile
from bytenet.run_folder import RunFolder
from bytenet.serving.engines.engine import Candidate


class LineTranslator(Protocol):
    """The translators with TensorFlow and with LiteRT."""

    def translate(
        self, lines: Iterable[str], n_best: int = 1, *, split_sentences: bool | None = None
    ) -> Iterator[list[Translation]]:
        """Translate lines in their order: the hypotheses of each line, best first."""


class TranslatorEngine:
    """The part of an `Engine` that a translator of lines does.

    Args:
        model: the model.
        translator: translates with it.
        max_candidates: largest number of translations of a sentence.
        longest: largest number of symbols of a sentence, with the end symbol; None for no limit.
    """

    is_starting = False

    def __init__(
        self, model: RunFolder | ModelFile, translator: LineTranslator, max_candidates: int, longest: int | None
    ):
        data = model.config.data
        self.languages = data.languages
        self.max_candidates = max_candidates
        self.max_sentence_chars = max_sentence_chars(data.max_length, longest)
        self._vocabulary = model.vocabulary
        self._line_translator = translator

    def warm_up(self) -> None:
        """Translate a short sentence, so that the first request does not wait for graphs."""
        # Some vocabularies refuse characters that they do not have.
        known = next((character for character in self._vocabulary.characters if not is_blank(character)), "")
        self.translate([known], 1)

    def translate(self, sentences: Sequence[str], num_candidates: int) -> list[list[Candidate]]:
        """Translate sentences, see `Engine`."""
        return [
            [Candidate(translation.text, translation.score) for translation in translations]
            for translations in self._line_translator.translate(sentences, num_candidates, split_sentences=False)
        ]
