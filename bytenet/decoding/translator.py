"""Translate lines of text."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from typing import Any, Literal, Self

from pydantic import ValidationError

from bytenet.config import DataConfig, DecodingConfig
from bytenet.config.search_options import problems_of_search
from bytenet.datasets import Vocabulary
from bytenet.decoding.batches.batch_search import BatchSearch
from bytenet.decoding.batches.batching import BatchShapes
from bytenet.decoding.finishing import Finisher
from bytenet.decoding.minimum_bayes_risk import minimum_bayes_risk
from bytenet.decoding.opening import translator_arguments
from bytenet.decoding.pair_lengths import lines_with_lengths
from bytenet.decoding.scoring import PairScorer
from bytenet.decoding.searches.forbidden_symbols import forbidden_symbols
from bytenet.decoding.searches.sampling import Sampling
from bytenet.errors import InputError
from bytenet.lite.characters import check_length, has_symbols, name_of_line
from bytenet.lite.length_penalty import LengthPenaltyRule
from bytenet.lite.lines import checked_lines
from bytenet.lite.lines_by_sentence import LinesBySentence
from bytenet.lite.pretrained import pretrained_path
from bytenet.lite.reranking import ONE_HYPOTHESIS, Reranker
from bytenet.lite.sentences import max_sentence_chars, splits_lines
from bytenet.lite.translation import BLANK, Translation
from bytenet.lite.white_space import readable
from bytenet.models.translation_model import TranslationModel

_BATCHES_IN_WINDOW = 16


class Translator:
    """Translates lines with a model.

    Lines are sorted by length within a window of several batches, and padded to few distinct shapes. The translation of
    a line does not depend on the lines around it, if the model has `mask_padding`. Several threads may share a
    translator; their searches run at the same time.

    Args:
        model: any `TranslationModel`.
        vocabulary: the model's vocabulary.
        beam_size: number of hypotheses that are kept; 1 is greedy search.
        length_penalty: alpha of `beam_search`.
        length_penalty_rule: "gnmt" or "length", see `beam_search`.
        coverage_penalty: factor of the `coverage` of a hypothesis, which is added to its score. It does not
            steer the search; it ranks the hypotheses at the end.
        batch_size: number of lines that are translated at once.
        min_length: least number of symbols of a translation, with the end symbol.
        max_length: largest number of symbols of a translation, with the end symbol; None is the model's limit.
        replace_unknown: replace an unknown character by the source character that it attends to most.
        dictionary: translations of source characters, for `replace_unknown`. Without an entry, a character is copied.
        forbidden_ids: symbols that no translation contains. None forbids padding, and also unknown characters unless
            they are replaced.
        jit_compile: true or false to compile all searches with XLA or none; "auto" to compile the shapes of batches
            that have enough work for it, see `CompilationChoice`.
        trained_lengths: the lengths that sentences were padded to in training, ascending, for a model that reads
            padding; None for a model that does not.
        row_factor: the number of rows of a batch is a power of this factor, or `batch_size`. A larger factor needs
            fewer graphs.
        reranker: reranks the hypotheses with a model of the other direction.
        data: settings of the training data: `export` and `by_sentence` take languages and the length of sentences from
            them.
        sampling: draws samples of each line instead of searching; `beam_size` is then not used.
        mbr: rank the hypotheses by minimum Bayes risk, see `minimum_bayes_risk`. The penalties are then not used.

    Raises:
        InputError: `coverage_penalty` or `replace_unknown` is set for a model without attention, or
            `replace_unknown` for a vocabulary without an unknown symbol; or `reranker` with one hypothesis.
        ValueError: both `reranker` and `mbr` are given; `mbr` has one hypothesis; a value is not allowed; or model and
            vocabulary have different numbers of symbols.

    Attributes:
        decoding: the options of the search, as settings.
        model, vocabulary, trained_lengths, reranker, data: see the arguments.
        batch_search: searches the translations of many sentences.
        finisher: makes translations from the symbols that the search writes.
    """

    def __init__(
        self,
        model: TranslationModel,
        vocabulary: Vocabulary,
        beam_size: int = DecodingConfig.beam_size,
        length_penalty: float = DecodingConfig.length_penalty,
        length_penalty_rule: LengthPenaltyRule = DecodingConfig.length_penalty_rule,
        coverage_penalty: float = DecodingConfig.coverage_penalty,
        batch_size: int = DecodingConfig.batch_size,
        min_length: int = DecodingConfig.min_length,
        max_length: int | None = DecodingConfig.max_length,
        replace_unknown: bool = DecodingConfig.replace_unknown,
        dictionary: Mapping[str, str] | None = None,
        forbidden_ids: Sequence[int] | None = None,
        jit_compile: bool | Literal["auto"] = "auto",
        trained_lengths: Sequence[int] | None = None,
        row_factor: int = 2,
        reranker: Reranker[PairScorer] | None = None,
        data: DataConfig | None = None,
        sampling: Sampling | None = None,
        mbr: bool = DecodingConfig.mbr,
    ):
        if reranker is not None and (beam_size if sampling is None else sampling.samples) == 1:
            raise InputError(ONE_HYPOTHESIS)
        if mbr and reranker is not None:
            raise ValueError("mbr and reranker both rank the hypotheses; expected one of them.")
        options = {
            "beam_size": beam_size,
            "length_penalty": length_penalty,
            "length_penalty_rule": length_penalty_rule,
            "coverage_penalty": coverage_penalty,
            "batch_size": batch_size,
            "min_length": min_length,
            "max_length": max_length,
            "replace_unknown": replace_unknown,
            **({} if sampling is None else asdict(sampling)),
            "mbr": mbr,
            "rerank_with": None if reranker is None else reranker.name,
            "rerank_weight": DecodingConfig.rerank_weight if reranker is None else reranker.weight,
        }
        try:
            self.decoding = DecodingConfig(**options)
        except ValidationError as error:
            raise ValueError(problems_of_search(error, options)) from None
        model.check_vocabulary(vocabulary.size)
        self.model = model
        self.vocabulary = vocabulary
        self.trained_lengths = trained_lengths
        self.reranker = reranker
        self.data = data
        shapes = BatchShapes(batch_size, model.length_policy.longest, trained_lengths, row_factor)
        self.finisher = Finisher(
            model, vocabulary, shapes, self.decoding.effective_coverage_penalty, replace_unknown, dictionary
        )
        self.batch_search = BatchSearch(
            model,
            self.decoding,
            self.finisher,
            forbidden_symbols(model.config, vocabulary, replace_unknown) if forbidden_ids is None else forbidden_ids,
            sampling,
            shapes,
            jit_compile,
        )

    @classmethod
    def from_run(
        cls,
        *run_dirs: str | os.PathLike[str],
        dictionary: Mapping[str, str] | None = None,
        jit_compile: bool | Literal["auto"] | None = None,
        row_factor: int = 2,
        **options: Any,
    ) -> Self:
        """Make a translator from a finished run, or from several runs with the same vocabulary as an `Ensemble`.

        Args:
            *run_dirs: the run folders, `.bytenet` files that `export` wrote, or names of pretrained models. Options
                that are not given come from the first one's configuration.
            dictionary: as for `Translator`.
            jit_compile: as for `Translator`; None is "auto".
            row_factor: as for `Translator`.
            **options: fields of `bytenet.config.DecodingConfig`; None takes the value of the run's configuration. A
                `rerank_weight` of 0 turns `rerank_with` off.

        Raises:
            ConfigError: an option has a value that it cannot have.
            InputError: a folder is not a run folder, or a file not a model; its model cannot be loaded; several have
                different vocabularies or directions, or one of several reads padding; or `rerank_with` is not a model
                of the other direction.
            TypeError: there is no such option.
        """
        arguments = translator_arguments(run_dirs, options, row_factor)
        return cls(**arguments, dictionary=dictionary, jit_compile="auto" if jit_compile is None else jit_compile)

    @classmethod
    def from_pretrained(cls, name: str, **options: Any) -> Self:
        """Make a translator with a pretrained model of the package, such as "de-en". Options are as for `from_run`.

        Raises:
            MissingFileError: there is no model of that name.
        """
        return cls.from_run(pretrained_path(name), **options)

    def export(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Save the translator for other programs. For the arguments and errors see `bytenet.decoding.export.export`."""
        from bytenet.decoding.export import export

        export(self, path, **options)

    def translate(
        self,
        lines: Iterable[str],
        n_best: int = 1,
        window: int | None = None,
        pair_lengths: Sequence[int] | None = None,
        *,
        split_sentences: bool | None = None,
    ) -> Iterator[list[Translation]]:
        """Translate lines in their order. Nothing is checked or translated before the first result is asked for.

        Args:
            lines: without line ends.
            n_best: largest number of hypotheses for each line, at most `beam_size` or the number of samples.
            window: number of sentences to read before the first one is translated; None is 16 batches.
            pair_lengths: for each line, the length of the longer side of its pair, with the end symbol. The padding
                and the length limit of the line follow from it, as in the thesis's evaluation. None if the search must
                not know the references. With `pair_lengths`, lines are not split.
            split_sentences: translate each line sentence by sentence, or whole. None splits lines, as `bytenet
                translate` does, if `n_best` is 1 and the translator has `data`.

        Yields:
            The hypotheses of each line, best first, but those without text last. So the only hypothesis may be empty
            where the first of several is not. A blank line has one empty hypothesis. A line whose characters are all
            unknown has one, too, if the vocabulary's rule drops them. A line may have fewer than `n_best`, if no more
            exist. A line that is split has one; its score and log-probability are sums.

        Raises:
            ValueError: `n_best` is not between 1 and the number of hypotheses; `window` is below 1;
                `split_sentences` is true with an `n_best` above 1, with `pair_lengths`, or without `data`; or there are
                more or fewer lines than `pair_lengths`.
            TypeError: `lines` is one text, or a line is not a `str`.
            InputError: a line has an unknown character, and the vocabulary's rule refuses it; or a line that is not
                split is too long for the model.
            ModelError: the model gives no translation of a line a finite probability.
        """
        num_hypotheses = self.decoding.num_hypotheses
        if not 1 <= n_best <= num_hypotheses:
            name = "samples" if self.decoding.samples else "beam_size"
            raise ValueError(f"n_best is {n_best}; expected a number from 1 to {name}, which is {num_hypotheses}.")
        if window is not None and window < 1:
            raise ValueError(f"window is {window}; expected 1 or more.")
        if split_sentences and pair_lengths is not None:
            raise ValueError("pair_lengths are lengths of whole lines. Leave out pair_lengths or split_sentences.")
        if split_sentences is None and (self.data is None or pair_lengths is not None):
            split_sentences = False
        lines = checked_lines(lines)
        if pair_lengths is not None:
            lines = lines_with_lengths(lines, pair_lengths)
        translate = partial(self._translate_lines, n_best=n_best, window=window, pair_lengths=pair_lengths)
        if splits_lines(split_sentences, n_best):
            yield from self.by_sentence().translate(lines, translate)
        else:
            yield from translate(lines)

    def by_sentence(self) -> LinesBySentence:
        """A `LinesBySentence` for the model's languages. Its sentences are at most as long as those of the training.

        Raises:
            ValueError: the translator has no `data`, so the language is not known.
        """
        if self.data is None:
            raise ValueError("To split lines, a Translator needs to know their language. Give it the argument data.")
        longest = self.model.length_policy.longest
        return LinesBySentence(self.data.languages, max_sentence_chars(self.data.max_length, longest))

    def _translate_lines(
        self, lines: Iterable[str], n_best: int, window: int | None, pair_lengths: Sequence[int] | None
    ) -> Iterator[list[Translation]]:
        lines = iter(lines)
        window = window or _BATCHES_IN_WINDOW * self.decoding.batch_size
        start = 0
        while chunk := list(islice(lines, window)):
            least_lengths = None if pair_lengths is None else pair_lengths[start : start + len(chunk)]
            yield from self._translate_window(chunk, start, n_best, least_lengths)
            start += len(chunk)

    def _translate_window(
        self, lines: list[str], start: int, n_best: int, least_lengths: Sequence[int] | None
    ) -> list[list[Translation]]:
        """Translate some lines; `start` is the number of lines before them."""
        lines = [readable(line, self.vocabulary.known) for line in lines]
        encoded = self.vocabulary.encode_batch(lines)
        lengths = [len(ids) for ids in encoded]
        for number, (line, length) in enumerate(zip(lines, lengths, strict=True), start + 1):
            check_length(length, self.model.length_policy.longest, name_of_line(number, line))
        if least_lengths is not None:
            lengths = [max(pair) for pair in zip(lengths, least_lengths, strict=True)]
        translations = [[BLANK] for _ in lines]
        not_blank = [index for index, ids in enumerate(encoded) if has_symbols(ids)]
        ranked = self.batch_search(
            [lines[i] for i in not_blank],
            [encoded[i] for i in not_blank],
            [lengths[i] for i in not_blank],
            self._num_ranked(n_best),
        )
        if self.reranker is not None:
            ranked = self.reranker([lines[i] for i in not_blank], ranked)
        for index, hypotheses in zip(not_blank, ranked, strict=True):
            translations[index] = hypotheses
        if self.decoding.mbr:
            translations = [minimum_bayes_risk(ranked, self.decoding.samples > 0) for ranked in translations]
        return [ranked[:n_best] for ranked in translations]

    def _num_ranked(self, n_best: int) -> int:
        """The number of hypotheses that the search returns. Coverage, reranker and minimum Bayes risk rank all."""
        ranks_all = self.reranker is not None or self.decoding.coverage_penalty or self.decoding.mbr
        return self.decoding.num_hypotheses if ranks_all else n_best

    def make_graphs(self, longest: int, n_best: int = 1) -> None:
        """Make the graphs of all batches in advance, so that no sentence waits for one. Each takes seconds.

        With `jit_compile` "auto", a graph that is used often is compiled later, and sentences wait for that.

        Args:
            longest: largest number of symbols of a sentence, with the end symbol.
            n_best: as for `translate`. Each number has graphs of its own.
        """
        self.batch_search.make_graphs(longest, self._num_ranked(n_best))
        longest_pair = max(longest, self.batch_search.limit(longest))
        self.finisher.make_graphs(longest_pair)
        if self.reranker is not None:
            self.reranker.scorer.make_graphs(longest_pair)
