"""From the hypotheses of a search to translations: coverage, unknown symbols, text."""

from collections.abc import Mapping, Sequence

import numpy as np

from bytenet.datasets import EOS_ID, Vocabulary, normalise
from bytenet.decoding.alignment import Aligner
from bytenet.decoding.batches.batching import BatchShapes
from bytenet.decoding.searches.coverage import coverage
from bytenet.decoding.searches.hypotheses import Hypothesis
from bytenet.errors import InputError
from bytenet.lite.translation import Translation, best_first, without_text_last
from bytenet.models.translation_model import TranslationModel


def check_finishing(
    model: TranslationModel, vocabulary: Vocabulary, coverage_penalty: float, replace_unknown: bool
) -> None:
    """Raise an InputError if the model or the vocabulary cannot do what these options of a `Finisher` ask for."""
    for name, value, off in (
        ("coverage_penalty", coverage_penalty, "0"),
        ("replace_unknown", replace_unknown, "false"),
    ):
        if value and not model.has_attention:
            raise InputError(
                f"{name} needs a model with attention, but {model.config.kind} has no attention. Set it to {off}."
            )
    if replace_unknown and vocabulary.unknown != "symbol":
        raise InputError(
            f'replace_unknown needs a vocabulary with unknown="symbol", not "{vocabulary.unknown}". Set it to false.'
        )


class Finisher:
    """Makes translations of the hypotheses of a search.

    Args:
        model: the model; must have attention for `coverage_penalty` and `replace_unknown`.
        vocabulary: the model's vocabulary.
        shapes: of the batches of hypotheses that are aligned at once.
        coverage_penalty: factor of the `coverage` of a hypothesis, which is added to its score.
        replace_unknown: replace an unknown symbol by the source character that it attends to most.
        dictionary: translations of source characters, for `replace_unknown`.

    Raises:
        InputError: the model has no attention, or the vocabulary has no unknown symbol.
    """

    def __init__(
        self,
        model: TranslationModel,
        vocabulary: Vocabulary,
        shapes: BatchShapes,
        coverage_penalty: float,
        replace_unknown: bool,
        dictionary: Mapping[str, str] | None,
    ):
        check_finishing(model, vocabulary, coverage_penalty, replace_unknown)
        self._vocabulary = vocabulary
        self._coverage_penalty = coverage_penalty
        self._replaces_unknown = replace_unknown
        self.dictionary = dictionary
        self._aligner = Aligner(model, shapes) if coverage_penalty or replace_unknown else None

    def __call__(
        self, lines: Sequence[str], source_ids: Sequence[np.ndarray], hypotheses: Sequence[Sequence[Hypothesis]]
    ) -> list[list[Translation]]:
        """The translations of each line, best first.

        Args:
            lines: the sources.
            source_ids: int32 `(S,)` for each line, with the end symbol.
            hypotheses: of each line, best first.
        """
        if self._aligner is None:
            return [without_text_last(map(self._plain, ranked)) for ranked in hypotheses]
        pairs = [
            (ids, hypothesis.ids)
            for ids, ranked in zip(source_ids, hypotheses, strict=True)
            for hypothesis in ranked
            if self._needs_alignment(hypothesis)
        ]
        alignments = self._aligner([source for source, _ in pairs], [target for _, target in pairs])
        finished = []
        for line, ranked in zip(normalise(lines), hypotheses, strict=True):
            translations = [
                self._attended(line, hypothesis, next(alignments))
                if self._needs_alignment(hypothesis)
                else self._plain(hypothesis)
                for hypothesis in ranked
            ]
            finished.append(best_first(translations))
        return finished

    def make_graphs(self, longest: int) -> None:
        """Make the graphs of alignments in advance, for sources and translations of up to `longest` symbols."""
        if self._aligner is not None:
            self._aligner.make_graphs(longest)

    def _needs_alignment(self, hypothesis: Hypothesis) -> bool:
        return bool(self._coverage_penalty) or self._vocabulary.unknown_id in hypothesis.ids

    def part(self, line: str, source_ids: np.ndarray, ids: np.ndarray, start: int) -> str:
        """The text of the latest symbols of a translation that is being written.

        Args:
            line: the source.
            source_ids: int32 `(S,)`, of the line, with the end symbol.
            ids: int32 `(T,)`, all symbols so far.
            start: number of symbols before the latest ones.
        """
        latest = ids[start:]
        if not (self._replaces_unknown and self._vocabulary.unknown_id in latest):
            return self._vocabulary.decode(latest)
        assert self._aligner is not None
        (alignment,) = self._aligner([source_ids], [ids])
        return replaced_unknown(latest, self._vocabulary, normalise([line])[0], alignment[start:], self.dictionary)

    def _plain(self, hypothesis: Hypothesis) -> Translation:
        ids, score, log_probability, ended = hypothesis
        return Translation(self._vocabulary.decode(ids), score, log_probability, ended)

    def _attended(self, line: str, hypothesis: Hypothesis, alignment: np.ndarray) -> Translation:
        """Apply coverage and the replacement of unknown symbols to a hypothesis. Its alignment is float `(T, S)`."""
        ids, score, log_probability, ended = hypothesis
        if self._coverage_penalty:
            score += self._coverage_penalty * coverage(alignment)
        text = (
            replaced_unknown(ids, self._vocabulary, line, alignment, self.dictionary)
            if self._replaces_unknown
            else self._vocabulary.decode(ids)
        )
        return Translation(text, score, log_probability, ended)


def replaced_unknown(
    ids: np.ndarray,
    vocabulary: Vocabulary,
    source: str,
    alignment: np.ndarray,
    dictionary: Mapping[str, str] | None,
) -> str:
    """The text of a translation. Each unknown symbol becomes the source character that it attends to most.

    The end symbol of the source is never chosen.

    Args:
        ids: int `(T,)`, of the translation.
        vocabulary: that has an id for unknown characters.
        source: the source, normalised as for the model. Each of its characters is one source symbol.
        alignment: float `(T, S)`, where the last source symbol is the end symbol.
        dictionary: translations of source characters. A character without an entry is copied.

    Reference:
        Luong et al. 2015, "Addressing the Rare Word Problem in Neural Machine Translation"; Jean et al. 2015;
        Gehring et al. 2017, section 4.2.
    """
    dictionary = dictionary or {}
    text = []
    for symbol_id, weights in zip(ids, alignment, strict=True):
        if symbol_id == EOS_ID:
            break
        if symbol_id == vocabulary.unknown_id and source:
            character = source[int(np.argmax(weights[: len(source)]))]
            text.append(dictionary.get(character, character))
        else:
            text.append(vocabulary.decode([symbol_id]))
    return "".join(text)
