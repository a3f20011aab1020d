"""Lines of text in, translations out."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, Self

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
    """Symbols that a run's searches never choose: padding and unknown characters.

    With the thesis's settings they may choose all; but for padding, if the model does not read it.
    """
    if model.settings == "thesis":
        return (PAD_ID,) if model.mask_padding else ()
    return _not_text(vocabulary)


def _not_text(vocabulary: Vocabulary) -> tuple[int, ...]:
    return tuple(i for i in (PAD_ID, vocabulary.unknown_id) if i is not None)


class Translation(NamedTuple):
    """One hypothesis for a line.

    Attributes:
        text: without end symbol.
        score: what hypotheses are ranked by, log-probability over length penalty.
        log_probability: nats.
        ended: false where the length limit cut it off.
    """

    text: str
    score: float
    log_probability: float
    ended: bool


BLANK = Translation("", 0.0, 0.0, True)
"""What a blank line gives."""


class Translator:
    """Translates lines with a model.

    Lines are sorted by length within a window of some batches, and padded to few distinct shapes. What a line
    gives does not depend on the lines around it (given a model with `mask_padding`).

    Args:
        model: any `TranslationModel`.
        vocabulary: of the model.
        beam_size: 1 for greedy search.
        length_penalty: alpha of `beam_search`.
        batch_size: lines translated at once.
        max_length: most characters of a translation, end symbol counted; None leaves it to the model's rule.
        forbidden_ids: symbols that no translation contains; None is padding and unknown characters.
        jit_compile: compile with XLA: true, false, or "auto" for those shapes of batches that have so much work
            before them that it pays, see `CompilationChoice`.
        trained_lengths: what sentences were padded to in training, ascending, for a model that reads padding; None
            for one that does not.
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
        self._decoders: dict[tuple[int, bool], CompiledSearch] = {}

    @classmethod
    def from_run(cls, run_dir: str | os.PathLike[str], **overrides: Any) -> Self:
        """The translator of a finished run, with the decoding settings of its configuration.

        Args:
            run_dir: the run folder.
            **overrides: arguments of `Translator` that win over the configuration unless they are None.

        Raises:
            InputError: the folder is no run folder, or its model cannot be used.
        """
        folder = RunFolder.open(run_dir)
        decoding = folder.config.decoding
        settings = {
            "beam_size": decoding.beam_size,
            "length_penalty": decoding.length_penalty,
            "batch_size": decoding.batch_size,
            "max_length": decoding.max_length,
            "forbidden_ids": forbidden_symbols(folder.config.model, folder.vocabulary),
            "trained_lengths": folder.trained_lengths,
        }
        settings |= {name: value for name, value in overrides.items() if value is not None}
        return cls(folder.load_model(), folder.vocabulary, **settings)

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
            n_best: hypotheses wanted for each, at most `beam_size`.
            window: lines read before the first is translated; None is 16 batches.
            pair_lengths: for each line, the length of the longer side of its pair, end symbol counted. The
                line counts as so long, as in the thesis's evaluation, where the source was padded to the
                reference. None where references are not to be known.

        Yields:
            For each line its hypotheses, best first; a blank line gives one empty hypothesis. There are fewer
            than `n_best` where so many do not exist.

        Raises:
            ValueError: `n_best` is not within 1 and `beam_size`.
            InputError: a line has a character that the vocabulary's rule refuses.
        """
        if not 1 <= n_best <= self.beam_size:
            raise ValueError(f"n_best must be from 1 to beam_size {self.beam_size}; found {n_best}.")
        lines = iter(lines)
        window = window or _BATCHES_IN_WINDOW * self.batch_size
        start = 0
        while chunk := list(islice(lines, window)):
            least = None if pair_lengths is None else pair_lengths[start : start + len(chunk)]
            yield from self._translate_window(chunk, n_best, least)
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
        batches = list(batches_by_length(not_blank, lengths, self.batch_size, self.trained_lengths))
        for batch, rows, length in batches:
            self._compilation.expect((rows, length, n_best), self._limit(lengths[batch[-1]]), rows * self.beam_size)
        for batch, rows, length in batches:
            of_batch = [encoded[i] for i in batch], [lengths[i] for i in batch]
            found = self._translate_batch(*of_batch, rows, length, n_best)
            for index, hypotheses in zip(batch, found, strict=True):
                translations[index] = hypotheses
        return translations

    def _translate_batch(
        self, encoded: list[np.ndarray], lengths: list[int], rows: int, length: int, n_best: int
    ) -> list[list[Translation]]:
        filler = rows - len(encoded)
        # Rows that only fill the batch up are empty sentences with no symbol to find: ended from the start.
        source_ids = pad_batch([*encoded, *[np.array([EOS_ID])] * filler], rows, length)
        limits = [self._limit(source_length) for source_length in lengths] + [0] * filler
        decoder = self._decoder(n_best, self._compilation.compiles((rows, length, n_best)))
        result = decoder(source_ids, self._limit(length), np.array(limits, np.int32))
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

    def _decoder(self, n_best: int, jit_compile: bool) -> CompiledSearch:
        if (n_best, jit_compile) not in self._decoders:
            self._decoders[n_best, jit_compile] = CompiledSearch(
                self.model, self.beam_size, self.length_penalty, n_best, self.forbidden_ids, jit_compile
            )
        return self._decoders[n_best, jit_compile]
