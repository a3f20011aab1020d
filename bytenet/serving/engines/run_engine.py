"""The engine for run folders: a `Translator`, with TensorFlow."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from bytenet.serving.engines.engine import Alignment, Candidate

_WARM_UP_SENTENCE = "a"
# A graph takes tens of megabytes. So batches of a server have few sizes, such as 1, 4, 16 and 32.
_ROW_FACTOR = 4


class RunEngine:
    """Translates with the model of a run folder, exactly as `bytenet translate` does.

    Args:
        run_dir: the folder of a finished run.
        **options: options of the search, as for `Translator.from_run`.

    Raises:
        InputError: it is not a run folder, or its model cannot be loaded.
    """

    def __init__(self, run_dir: str | os.PathLike[str], **options: Any):
        from bytenet.run_folder import RunFolder

        folder = RunFolder.open(run_dir)
        self.languages = folder.config.data.languages

        from bytenet.decoding import Translator
        from bytenet.decoding.alignment import Aligner
        from bytenet.decoding.draft import DraftSearch

        self._translator = Translator.from_run(folder, row_factor=_ROW_FACTOR, **options)
        self._draft = DraftSearch(self._translator)
        model = self._translator.model
        self.batch_size = self._translator.batch_size
        self.max_candidates = self._translator.beam_size
        longest = model.length_policy.longest  # in symbols, with the end symbol
        trained = folder.config.data.max_length
        self.max_sentence_chars = trained if longest is None else min(trained, longest - 1)
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
