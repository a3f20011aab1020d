"""Search for sentences in batches of few shapes, so that few graphs are made."""

from collections.abc import Sequence
from itertools import islice
from typing import Literal

import numpy as np

from bytenet.config import DecodingConfig
from bytenet.datasets import EOS_ID
from bytenet.decoding.batches.batching import BatchShapes, pad_batch
from bytenet.decoding.batches.compilation_choice import CompilationChoice
from bytenet.decoding.finishing import Finisher
from bytenet.decoding.searches.compiled_search import CompiledSearch
from bytenet.decoding.searches.hypotheses import hypotheses_of
from bytenet.decoding.searches.sampling import Sampling
from bytenet.lite.translation import Translation
from bytenet.models.translation_model import TranslationModel


class BatchSearch:
    """Sorts sentences by length into batches, pads these to few shapes, and searches the translations of each batch.

    Its graphs are kept. Several threads may share it.

    Args:
        model: any `TranslationModel`.
        decoding: the options of the search.
        finisher: makes translations from the symbols that the search writes.
        forbidden_ids: symbols that no translation contains.
        sampling: as for `Translator`.
        shapes: of the batches.
        jit_compile: as for `Translator`.

    Raises:
        ValueError: `jit_compile` is not allowed.
    """

    def __init__(
        self,
        model: TranslationModel,
        decoding: DecodingConfig,
        finisher: Finisher,
        forbidden_ids: Sequence[int],
        sampling: Sampling | None,
        shapes: BatchShapes,
        jit_compile: bool | Literal["auto"],
    ):
        self.forbidden_ids = tuple(forbidden_ids)
        self.shapes = shapes
        self.compilation = CompilationChoice(jit_compile)
        self._model = model
        self._decoding = decoding
        self._finisher = finisher
        self._sampling = sampling
        self._searches: dict[tuple[int, bool], CompiledSearch] = {}

    def __call__(
        self, sentences: Sequence[str], encoded: Sequence[np.ndarray], lengths: Sequence[int], n_best: int
    ) -> list[list[Translation]]:
        """Translate sentences.

        Args:
            sentences: texts that are not blank.
            encoded: the symbols of each sentence, int `(source_length,)` with the end symbol.
            lengths: for each sentence, the number of symbols that its padding and its length limit follow from; at
                least its own length.
            n_best: largest number of hypotheses for each sentence.

        Returns:
            The hypotheses of each sentence, best first.

        Raises:
            InputError: a sentence is too long for the model.
            ModelError: the model gives no translation of a sentence a finite probability.
        """
        translations: list[list[Translation]] = [[] for _ in sentences]
        batches = list(self.shapes.batches(lengths))
        for batch, rows, length in batches:
            num_hypotheses = rows * self._decoding.num_hypotheses
            self.compilation.expect((rows, length, n_best), self.limit(lengths[batch[-1]]), num_hypotheses)
        for batch, rows, length in batches:
            batch_ids, batch_lengths = [encoded[i] for i in batch], [lengths[i] for i in batch]
            batch_sentences = [sentences[i] for i in batch]
            batch_translations = self._search_batch(batch_sentences, batch_ids, batch_lengths, rows, length, n_best)
            for index, hypotheses in zip(batch, batch_translations, strict=True):
                translations[index] = hypotheses
        return translations

    def _search_batch(
        self, sentences: list[str], encoded: list[np.ndarray], lengths: list[int], rows: int, length: int, n_best: int
    ) -> list[list[Translation]]:
        num_fillers = rows - len(encoded)
        # Rows that only fill the batch are empty sentences with a limit of 0. The search takes no step for them.
        source_ids = pad_batch([*encoded, *[np.array([EOS_ID])] * num_fillers], rows, length)
        limits = [self.limit(source_length) for source_length in lengths] + [0] * num_fillers
        search = self.search(n_best, self.compilation.compiles((rows, length, n_best)))
        result = search(source_ids, self.limit(length), np.array(limits, np.int32))
        return self._finisher(sentences, encoded, list(islice(hypotheses_of(result), len(encoded))))

    def make_graphs(self, longest: int, n_best: int) -> None:
        """Make the graphs of all batches of sentences with at most `longest` symbols, see `Translator.make_graphs`."""
        for rows, length in self.shapes.up_to(longest):
            self._search_batch([], [], [], rows, length, n_best)

    def limit(self, source_length: int) -> int:
        """The largest number of symbols of a translation of `source_length` symbols. Both count the end symbol."""
        limit, longest = self._model.max_target_length(source_length), self._decoding.max_length
        return limit if longest is None else min(limit, longest)

    def search(self, n_best: int = 1, jit_compile: bool = False) -> CompiledSearch:
        """The search of one batch, which returns `n_best` hypotheses for each sentence."""
        search = self._searches.get((n_best, jit_compile))
        if search is not None:
            return search
        made = CompiledSearch(
            self._model,
            self._decoding.beam_size,
            self._decoding.length_penalty,
            n_best,
            self.forbidden_ids,
            jit_compile=jit_compile,
            length_penalty_rule=self._decoding.length_penalty_rule,
            min_length=self._decoding.min_length,
            sampling=self._sampling,
        )
        # Another thread may have made the same one. All use one, so that each graph is traced once.
        return self._searches.setdefault((n_best, jit_compile), made)
