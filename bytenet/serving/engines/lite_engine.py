"""The engine without TensorFlow, for model files: LiteRT."""

import os
from collections.abc import Iterator, Sequence

from bytenet.serving.engines.engine import Alignment, Candidate, longest_sentence

_WARM_UP_SENTENCE = "a"


class LiteEngine:
    """Translates with the LiteRT model in a `.bytenet` file, one sentence after the other.

    It starts at once and needs little memory, but it has no drafts and no attention, and many sentences take longer
    than with TensorFlow.

    Args:
        path: of the file.

    Raises:
        InputError: the file is damaged or has no LiteRT model, or the package `ai-edge-litert` is missing.
    """

    batch_size = 1
    has_attention = False

    def __init__(self, path: str | os.PathLike[str]):
        from bytenet.lite import Translator
        from bytenet.model_file import ModelFile

        data = ModelFile(path).config.data
        self._translator = Translator(path)
        self.languages = data.languages
        self.max_candidates = self._translator.beam_size
        self.max_sentence_chars = longest_sentence(data.max_length, self._translator.longest)

    def warm_up(self) -> None:
        """Let LiteRT prepare itself, so that the first request does not wait for it."""
        self.translate([_WARM_UP_SENTENCE], 1)

    def translate(self, sentences: Sequence[str], num_candidates: int) -> list[list[Candidate]]:
        """Translate sentences, see `Engine`."""
        return [
            [Candidate(translation.text, translation.score) for translation in translations]
            for translations in self._translator.translate(sentences, num_candidates)
        ]

    def draft(self, sentence: str) -> Iterator[str]:
        """No drafts: the search gives its result only at its end."""
        return iter(())

    def align(self, sentence: str, translation: str) -> Alignment:
        """Not there, see `has_attention`."""
        raise NotImplementedError("The LiteRT model has no attention.")
