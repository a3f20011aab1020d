"""Translate lines with LiteRT."""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Self

import numpy as np

from bytenet.errors import InputError, ModelError
from bytenet.lite.archive import SETTINGS
from bytenet.lite.characters import check_length, has_symbols, name_of_line
from bytenet.lite.languages import check_direction
from bytenet.lite.length_penalty import check_rule
from bytenet.lite.lines import checked_lines
from bytenet.lite.lines_by_sentence import LinesBySentence
from bytenet.lite.model import LiteModel
from bytenet.lite.pretrained import model_path, named_path, pretrained_path
from bytenet.lite.reranking import Reranker, chosen_reranker, explaining_missing_reranker
from bytenet.lite.scoring import LitePairScorer
from bytenet.lite.sentences import max_sentence_chars, splits_lines
from bytenet.lite.translation import BLANK, NO_HYPOTHESIS, Translation, without_text_last
from bytenet.lite.white_space import readable


class Translator:
    """Translates lines with the LiteRT model in a `.bytenet` file, one after the other.

    The options of the search are those of the export. Several threads may use one translator; they take turns.

    Args:
        path: of the file, or the name of a pretrained model.
        num_threads: processor cores for one line.
        rerank_with: a `.bytenet` file with a model of the other direction, or the name of a pretrained model. All
            hypotheses of the beam are reranked with it, see `Reranker`. None takes the one that the file names, if
            it names one.
        rerank_weight: weight of that model; 0 turns it off. None takes the weight in the file.

    Raises:
        MissingFileError: there is no such file.
        InputError: a file is damaged or has no LiteRT model, or the package `ai-edge-litert` is missing; or
            `rerank_with` has another direction or cannot score, or the file has a beam of 1; or `rerank_weight` is
            negative.
        ValueError: `num_threads` is below 1.

    Attributes:
        beam_size: number of hypotheses that the search keeps.
        longest: largest number of symbols of a line, with the end symbol; None for no limit.
        characters: the characters that the model knows.
        reranker: reranks the hypotheses; None if there is no reranking.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        num_threads: int = 1,
        rerank_with: str | os.PathLike[str] | None = None,
        rerank_weight: float | None = None,
    ):
        path = model_path(path)
        self._model = LiteModel(path, "serving_default", ("source_ids", "n_best"), num_threads)
        self.beam_size = self._model.beam_size
        self.longest = self._model.longest
        self.characters = self._model.characters
        self.reranker = _reranker(self._model, path, num_threads, rerank_with, rerank_weight)

    @classmethod
    def from_pretrained(cls, name: str, num_threads: int = 1, **options: Any) -> Self:
        """A translator with a pretrained model of the package, such as "de-en". Options are as for `Translator`.

        Raises:
            MissingFileError: there is no model of that name.
        """
        return cls(pretrained_path(name), num_threads, **options)

    def translate(
        self, lines: Iterable[str], n_best: int = 1, *, split_sentences: bool | None = None
    ) -> Iterator[list[Translation]]:
        """Translate lines in their order. Nothing is checked or translated before the first result is asked for.

        Args:
            lines: without line ends.
            n_best: largest number of hypotheses for each line, at most `beam_size`.
            split_sentences: translate each line sentence by sentence, or whole. None splits lines if `n_best` is 1 and
                the library sentencex is installed; if it is not, a warning says so once.

        Yields:
            The hypotheses of each line, best first, but those without text last. So the only hypothesis may be empty
            where the first of several is not. A blank line has one empty hypothesis. A line whose characters are all
            unknown has one, too, if the vocabulary's rule drops them. A line may have fewer than `n_best`, if no more
            exist. A line that is split has one; its score and log-probability are sums.

        Raises:
            ValueError: `n_best` is not between 1 and `beam_size`, or is above 1 with `split_sentences`.
            TypeError: `lines` is one text, or a line is not a `str`.
            InputError: a line has an unknown character, and the vocabulary's rule refuses it; or a line that is not
                split is too long for the model; or `split_sentences` needs sentencex, and it is not installed.
            ModelError: LiteRT fails, or gives no translation a finite probability; the file is damaged.
        """
        if not 1 <= n_best <= self.beam_size:
            raise ValueError(f"n_best is {n_best}; expected a number from 1 to beam_size, which is {self.beam_size}.")
        lines, translate = checked_lines(lines), partial(self._translate_lines, n_best=n_best)
        if splits_lines(split_sentences, n_best):
            yield from self.by_sentence().translate(lines, translate)
        else:
            yield from translate(lines)

    def by_sentence(self) -> LinesBySentence:
        """A `LinesBySentence` for the model's languages. Its sentences are at most as long as those of the training."""
        return LinesBySentence(self._model.languages, max_sentence_chars(self._model.max_length, self.longest))

    def _translate_lines(self, lines: Iterable[str], n_best: int) -> Iterator[list[Translation]]:
        for number, line in enumerate(lines, start=1):
            yield self._translate_line(number, line, n_best)

    def _translate_line(self, number: int, line: str, n_best: int) -> list[Translation]:
        line = readable(line, self.characters.known)
        ids = self.characters.encode(line)
        if not has_symbols(ids):
            return [BLANK]
        check_length(len(ids), self.longest, name_of_line(number, line))
        num_ranked = n_best if self.reranker is None else self.beam_size
        result = self._model(source_ids=ids[None], n_best=np.int32(num_ranked))
        rows = (result[name][0] for name in ("ids", "scores", "log_probabilities", "ended"))
        translations = [
            Translation(self.characters.decode(hypothesis), float(score), float(log_probability), bool(ended))
            for hypothesis, score, log_probability, ended in zip(*rows, strict=True)
            if np.isfinite(log_probability)
        ]
        if not translations:
            raise ModelError(NO_HYPOTHESIS)
        translations = without_text_last(translations)
        if self.reranker is not None:
            [translations] = self.reranker([line], [translations])
        return translations[:n_best]


def _reranker(
    model: LiteModel,
    path: str | os.PathLike[str],
    num_threads: int,
    rerank_with: str | os.PathLike[str] | None,
    weight: float | None,
) -> Reranker | None:
    """The reranker of a file or of the arguments of a `Translator`.

    Raises:
        MissingFileError, InputError: as for `Translator`.
    """
    decoding = model.section("decoding")
    try:
        configured = decoding.get("rerank_with"), float(decoding.get("rerank_weight", 1.0))
        penalty, rule = float(decoding["length_penalty"]), check_rule(decoding["length_penalty_rule"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: {SETTINGS} cannot be used ({error}). Export the model again.") from error
    choice = chosen_reranker(configured, (rerank_with, weight), model.beam_size)
    if choice is None:
        return None
    with explaining_missing_reranker():
        other_path = model_path(named_path(configured[0], path) if rerank_with is None else rerank_with)
    scorer = LitePairScorer(other_path, num_threads)
    source, target = model.languages
    check_direction(other_path, scorer.model.languages, (target, source), "rerank_with")
    return Reranker(scorer, choice[1], penalty, rule, os.fspath(other_path))
