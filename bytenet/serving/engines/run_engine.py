"""The engine with TensorFlow, for run folders and model files: a `Translator`."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from bytenet.lite.characters import fits
from bytenet.lite.white_space import readable
from bytenet.serving.engines.engine import Alignment
from bytenet.serving.engines.translator_engine import TranslatorEngine
from bytenet.trained_model import open_model

# A graph takes tens of megabytes, so batches have few sizes: 1, 4 and 16 sentences.
_ROW_FACTOR = 4
_BATCH_SIZE = 16


class RunEngine(TranslatorEngine):
    """Translates with a model exactly as `bytenet translate` does.

    Args:
        path: the folder of a finished run, or a `.bytenet` file.
        **options: options of the search, as for `Translator.from_run`. A `batch_size` of None is 16.

    Raises:
        InputError: it is neither, or its model cannot be loaded.
    """

    def __init__(self, path: str | os.PathLike[str], **options: Any):
        folder = open_model(path)

        # TensorFlow takes seconds to import. A wrong path is reported before.
        from bytenet.decoding import Translator
        from bytenet.decoding.alignment import Aligner
        from bytenet.decoding.searches.draft import DraftSearch

        options["batch_size"] = options.get("batch_size") or _BATCH_SIZE
        translator = Translator.from_run(folder, row_factor=_ROW_FACTOR, **options)
        model, shapes = translator.model, translator.batch_search.shapes
        super().__init__(folder, translator, translator.decoding.num_hypotheses, model.length_policy.longest)
        self.batch_sizes = shapes.numbers_of_rows
        self.has_attention = model.has_attention
        self._translator = translator
        self._draft = DraftSearch(translator)
        self._aligner = Aligner(model, shapes) if model.has_attention else None

    def make_graphs(self) -> None:
        """Make all graphs of `translate`, see `Translator.make_graphs`. It takes a minute or more."""
        for num_candidates in sorted({1, self.max_candidates}):
            self._translator.make_graphs(self.max_sentence_chars + 1, num_candidates)

    def draft(self, sentence: str) -> Iterator[str]:
        """Write a translation by greedy search in parts, see `Engine`."""
        return self._draft(sentence)

    def align(self, sentence: str, translation: str) -> Alignment | None:
        """Compute what a translation attends to, see `Engine`."""
        assert self._aligner is not None
        vocabulary = self._vocabulary
        texts = (readable(sentence, vocabulary.known), translation)
        if not fits(translation, vocabulary.encode, self._translator.model.length_policy.longest):
            return None
        (weights,) = self._aligner(*([vocabulary.encode(text)] for text in texts))
        source, target = ([*vocabulary.encoded_characters(text), "⏎"] for text in texts)
        # In float32, 0.1 would become 0.10000000149011612.
        return Alignment(source, target, weights.astype(np.float64).round(2).tolist())
