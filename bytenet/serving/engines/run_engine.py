"""The engine with TensorFlow, for run folders and model files: a `Translator`."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from bytenet.serving.engines.engine import Alignment, Candidate, longest_sentence

_WARM_UP_SENTENCE = "a"
# A graph takes tens of megabytes. So batches of a server have few sizes, such as 1, 4, 16 and 32.
_ROW_FACTOR = 4


class RunEngine:
    """Translates with a model exactly as `bytenet translate` does.

    Args:
        path: the folder of a finished run, or a `.bytenet` file.
        **options: options of the search, as for `Translator.from_run`.

    Raises:
        InputError: it is neither, or its model cannot be loaded.
    """

    def __init__(self, path: str | os.PathLike[str], **options: Any):
        from bytenet.model_file import open_model

        folder = open_model(path)
        self.languages = folder.config.data.languages

        from bytenet.decoding import Translator
        from bytenet.decoding.alignment import Aligner
        from bytenet.decoding.draft import DraftSearch

        self._translator = Translator.from_run(folder, row_factor=_ROW_FACTOR, **options)
        self._draft = DraftSearch(self._translator)
        model = self._translator.model
        self.batch_size = self._translator.batch_size
        self.max_candidates = self._translator.beam_size
        self.max_sentence_chars = longest_sentence(folder.config.data.max_length, model.length_policy.longest)
        self.has_attention = model.has_attention
        self._aligner = Aligner(model, batch_size=1) if model.has_attention else None

    def warm_up(self) -> None:
        """Trace the graphs for a short sentence, so that the first request does not wait for it."""
        self.translate([_WARM_UP_SENTENCE], 1)

    def translate(self, sentences: Sequence[str], num_candidates: int) -> list[list[Candidate]]:
        """Translate sentences, see `Engine`."""
        return [
            [Candidate(translation.text, translation.score) for translation in translations]
            for translations in self._translator.translate(sentences, num_candidates)
        ]

    def draft(self, sentence: str) -> Iterator[str]:
        """Write a translation by greedy search in parts, see `Engine`."""
        return self._draft(sentence)

    def align(self, sentence: str, translation: str) -> Alignment:
        """Compute what a translation attends to, see `Engine`."""
        assert self._aligner is not None
        from bytenet.evaluation.sentence_attention import symbol_text

        vocabulary = self._translator.vocabulary
        source_ids, target_ids = (vocabulary.encode(text) for text in (sentence, translation))
        (weights,) = self._aligner([source_ids], [target_ids])
        source, target = ([symbol_text(vocabulary, i) for i in ids] for ids in (source_ids, target_ids))
        return Alignment(source, target, weights.round(2).tolist())
