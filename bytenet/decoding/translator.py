"""Translate lines of text."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple, Self

import numpy as np

from bytenet.config import ModelConfig
from bytenet.datasets import EOS_ID, PAD_ID, Vocabulary
from bytenet.datasets.text.characters import is_blank
from bytenet.decoding.batching import batches_by_length, pad_batch
from bytenet.decoding.compilation_choice import CompilationChoice
from bytenet.decoding.compiled_search import CompiledSearch
from bytenet.models.translation_model import TranslationModel
from bytenet.run_folder import RunFolder

_BATCHES_IN_WINDOW = 16


def forbidden_symbols(model: ModelConfig, vocabulary: Vocabulary) -> tuple[int, ...]:
    """The symbols that the searches of a run never choose: padding and unknown characters.

    With the thesis's settings, they may choose unknown characters, and padding if the model reads padding.

    Args:
        model: reads `settings` and `mask_padding` from it.
        vocabulary: the run's vocabulary.
    """
    if model.settings == "thesis":
        return (PAD_ID,) if model.mask_padding else ()
    return _not_text(vocabulary)


def _not_text(vocabulary: Vocabulary) -> tuple[int, ...]:
    return tuple(i for i in (PAD_ID, vocabulary.unknown_id) if i is not None)


class Translation(NamedTuple):
    """One hypothesis for a line.

    Attributes:
        text: the translation, without the end symbol.
        score: log-probability over length penalty. Hypotheses are ranked by it.
        log_probability: in nats.
        ended: false if the length limit cut the hypothesis off.
    """

    text: str
    score: float
    log_probability: float
    ended: bool


BLANK = Translation("", 0.0, 0.0, True)
"""The translation of a blank line."""


class Translator:
    """Translates lines with a model.

    Lines are sorted by length within a window of several batches, and padded to few distinct shapes. The translation of
    a line does not depend on the lines around it, if the model has `mask_padding`.

    Args:
        model: any `TranslationModel`.
        vocabulary: the model's vocabulary.
        beam_size: number of hypotheses that are kept; 1 is greedy search.
        length_penalty: alpha of `beam_search`.
        batch_size: number of lines that are translated at once.
        max_length: largest number of characters of a translation, with the end symbol; None is the model's limit.
        forbidden_ids: symbols that no translation contains; None is padding and unknown characters.
        jit_compile: true or false to compile all searches with XLA or none; "auto" to compile the shapes of batches
            that have enough work for it, see `CompilationChoice`.
        trained_lengths: the lengths that sentences were padded to in training, ascending, for a model that reads
            padding; None for a model that does not.
    """

    def __init__(
        self,
        model: TranslationModel,
        vocabulary: Vocabulary,
        beam_size: int = 10,
        length_penalty: float = 0.6,
        batch_size: int = 32,
        max_length: int | None = None,
        forbidden_ids: Sequence[int] | None = None,
        jit_compile: bool | Literal["auto"] = "auto",
        trained_lengths: Sequence[int] | None = None,
    ):
        self.model = model
        self.vocabulary = vocabulary
        self.beam_size = beam_size
        self.length_penalty = length_penalty
        self.batch_size = batch_size
        self.max_length = max_length
        self.jit_compile = jit_compile
        self.trained_lengths = trained_lengths
        self.forbidden_ids = _not_text(vocabulary) if forbidden_ids is None else tuple(forbidden_ids)
        self._compilation = CompilationChoice(jit_compile)
        self._searches: dict[tuple[int, bool], CompiledSearch] = {}

    @classmethod
    def from_run(
        cls,
        run_dir: str | os.PathLike[str],
        beam_size: int | None = None,
        length_penalty: float | None = None,
        batch_size: int | None = None,
        max_length: int | None = None,
        jit_compile: bool | Literal["auto"] | None = None,
    ) -> Self:
        """Make a translator from a finished run.

        Args:
            run_dir: the run folder.
            beam_size: as for `Translator`; None takes the value of the run's configuration. The same holds for
                `length_penalty`, `batch_size` and `max_length`.
            length_penalty: see `beam_size`.
            batch_size: see `beam_size`.
            max_length: see `beam_size`.
            jit_compile: as for `Translator`; None is "auto".

        Raises:
            InputError: the folder is not a run folder, or its model cannot be loaded.
        """
        folder = RunFolder.open(run_dir)
        decoding = folder.config.decoding
        return cls(
            folder.load_model(),
            folder.vocabulary,
            beam_size=decoding.beam_size if beam_size is None else beam_size,
            length_penalty=decoding.length_penalty if length_penalty is None else length_penalty,
            batch_size=decoding.batch_size if batch_size is None else batch_size,
            max_length=decoding.max_length if max_length is None else max_length,
            forbidden_ids=forbidden_symbols(folder.config.model, folder.vocabulary),
            jit_compile="auto" if jit_compile is None else jit_compile,
            trained_lengths=folder.trained_lengths,
        )

    def translate(
        self,
        lines: Iterable[str],
        n_best: int = 1,
        window: int | None = None,
        pair_lengths: Sequence[int] | None = None,
    ) -> Iterator[list[Translation]]:
        """Translate lines in their order.

        Args:
            lines: one sentence each, without line ends.
            n_best: largest number of hypotheses for each line, at most `beam_size`.
            window: number of lines to read before the first one is translated; None is 16 batches.
            pair_lengths: for each line, the length of the longer side of its pair, with the end symbol. The padding
                and the length limit of the line follow from it, as in the thesis's evaluation. None if the search must
                not know the references.

        Yields:
            The hypotheses of each line, best first. A blank line has one empty hypothesis. A line may have fewer than
            `n_best`, if no more exist.

        Raises:
            ValueError: `n_best` is not between 1 and `beam_size`.
            InputError: a line has an unknown character, and the vocabulary's rule refuses it; or a line is too long
                for the model.
        """
        if not 1 <= n_best <= self.beam_size:
            raise ValueError(f"n_best is {n_best}; expected a number from 1 to beam_size, which is {self.beam_size}.")
        lines = iter(lines)
        window = window or _BATCHES_IN_WINDOW * self.batch_size
        start = 0
        while chunk := list(islice(lines, window)):
            least_lengths = None if pair_lengths is None else pair_lengths[start : start + len(chunk)]
            yield from self._translate_window(chunk, n_best, least_lengths)
            start += len(chunk)

    def _translate_window(
        self, lines: list[str], n_best: int, least_lengths: Sequence[int] | None
    ) -> list[list[Translation]]:
        encoded = self.vocabulary.encode_batch(lines)
        lengths = [len(ids) for ids in encoded]
        if least_lengths is not None:
            lengths = [max(pair) for pair in zip(lengths, least_lengths, strict=True)]
        translations = [[BLANK] for _ in lines]
        not_blank = [index for index, line in enumerate(lines) if not is_blank(line)]
        longest = self.model.length_policy.longest
        batches = list(batches_by_length(not_blank, lengths, self.batch_size, self.trained_lengths, longest))
        for batch, rows, length in batches:
            self._compilation.expect((rows, length, n_best), self._limit(lengths[batch[-1]]), rows * self.beam_size)
        for batch, rows, length in batches:
            batch_ids, batch_lengths = [encoded[i] for i in batch], [lengths[i] for i in batch]
            batch_translations = self._translate_batch(batch_ids, batch_lengths, rows, length, n_best)
            for index, hypotheses in zip(batch, batch_translations, strict=True):
                translations[index] = hypotheses
        return translations

    def _translate_batch(
        self, encoded: list[np.ndarray], lengths: list[int], rows: int, length: int, n_best: int
    ) -> list[list[Translation]]:
        num_fillers = rows - len(encoded)
        # Rows that only fill the batch are empty sentences with a limit of 0. The search takes no step for them.
        source_ids = pad_batch([*encoded, *[np.array([EOS_ID])] * num_fillers], rows, length)
        limits = [self._limit(source_length) for source_length in lengths] + [0] * num_fillers
        search = self._search(n_best, self._compilation.compiles((rows, length, n_best)))
        result = search(source_ids, self._limit(length), np.array(limits, np.int32))
        fields = (result.ids, result.scores, result.log_probabilities, result.ended)
        return [
            [
                Translation(self.vocabulary.decode(ids), float(score), float(log_probability), bool(ended))
                for ids, score, log_probability, ended in zip(*hypotheses, strict=True)
                if np.isfinite(log_probability)
            ]
            for hypotheses in islice(zip(*(field.numpy() for field in fields), strict=True), len(encoded))
        ]

    def _limit(self, source_length: int) -> int:
        limit = self.model.max_target_length(source_length)
        return limit if self.max_length is None else min(limit, self.max_length)

    def _search(self, n_best: int, jit_compile: bool) -> CompiledSearch:
        if (n_best, jit_compile) not in self._searches:
            self._searches[n_best, jit_compile] = CompiledSearch(
                self.model, self.beam_size, self.length_penalty, n_best, self.forbidden_ids, jit_compile
            )
        return self._searches[n_best, jit_compile]
