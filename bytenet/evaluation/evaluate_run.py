"""Translate a test set with a trained model and score it."""

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from bytenet.config import DataConfig
from bytenet.datasets import Pairs, pair_lengths, read_corpus
from bytenet.datasets.corpora.entry import USERS_CORPORA
from bytenet.errors import ConfigError, InputError
from bytenet.evaluation.evaluation import Evaluation
from bytenet.evaluation.metrics.bleu import bleu_measures, chrf
from bytenet.evaluation.metrics.bootstrap import DEFAULT_SEED, check_parallel
from bytenet.evaluation.metrics.exact_match import exact_match
from bytenet.evaluation.metrics.likelihood import bits_per_character
from bytenet.evaluation.metrics.misclassification import sentence_misclassification
from bytenet.evaluation.metrics.scores import Score
from bytenet.evaluation.metrics.thesis_bleu import thesis_bleu
from bytenet.lite.pretrained import name_or_path
from bytenet.model_file import ModelFile
from bytenet.run_folder import RunFolder
from bytenet.trained_model import open_models

if TYPE_CHECKING:
    from bytenet.decoding import Translation, Translator

Split = Literal["train", "validation", "test"]


def pairs_of_split(model: RunFolder | ModelFile, split: Split, corpus_name: str | None = None) -> Pairs:
    """Read the pairs of a split of a corpus. They may have any length.

    Args:
        model: whose languages are read.
        split: of the corpus.
        corpus_name: a name of the registry; None is the corpus that the run learned from.

    Raises:
        ConfigError: there is no such corpus, its name does not say which files, or it does not have the languages.
        InputError: the corpus has no such split, or is missing; or there is no name, and the model is a file.
    """
    own, data = model.config.data, _data_of(model, corpus_name)
    corpus = read_corpus(data)
    if data is not own and (languages := (corpus.source_language, corpus.target_language)) != own.languages:
        raise InputError(
            f"The corpus {corpus.name} has pairs from {' to '.join(languages)}, but "
            f"{name_or_path(model.path)} translates {' to '.join(own.languages)}."
        )
    pairs = getattr(corpus, split)
    if not pairs:
        splits = [name for name in ("train", "validation", "test") if getattr(corpus, name)]
        if not splits:
            raise InputError(
                f"The corpus {corpus.name!r} has no pairs to evaluate with. Give files with --source and --reference."
            )
        if split == "train" and data.corpus == "shards":
            raise InputError(
                "The training pairs of shards cannot be evaluated. Choose another --split, or give files with --source "
                "and --reference."
            )
        raise InputError(
            f"The corpus {corpus.name!r} has no {split} pairs; it has {', '.join(splits)}. Choose one of these with "
            "--split, or give files with --source and --reference."
        )
    return pairs


def _data_of(model: RunFolder | ModelFile, corpus_name: str | None) -> DataConfig:
    """The settings of a corpus: those of the run if it is the run's own, otherwise the defaults of the corpus."""
    from bytenet.datasets.corpora.registry import available, find_entry

    data = model.config.data
    if isinstance(model, ModelFile):
        if corpus_name is None:
            in_card = model.facts.get("corpus", "").split(",")[0]
            is_known = in_card in {entry.name for entry in available()} - {*USERS_CORPORA}
            how = f"It learned from {in_card}: add --corpus {in_card}" if is_known else "Name one with --corpus"
            raise InputError(
                f"{name_or_path(model.path)} does not say which corpus to read. {how}, or give files with --source and "
                "--reference."
            )
    elif corpus_name is None or corpus_name == data.corpus:
        return data
    if corpus_name in USERS_CORPORA:
        raise ConfigError(f"--corpus {corpus_name} does not say which files. Give them with --source and --reference.")
    find_entry(corpus_name)  # raises an error for a wrong name
    return DataConfig(
        corpus=corpus_name, source_language=data.source_language, target_language=data.target_language,
        reversed=data.reversed,
    )  # fmt: skip


def evaluate_run(
    run_dir: str | os.PathLike[str],
    pairs: Pairs,
    name: str,
    bootstrap: int = 1000,
    progress: Callable[[int], None] = lambda done: None,
    jit_compile: bool | None = None,
    together_with: Sequence[str | os.PathLike[str]] = (),
    **options: Any,
) -> Evaluation:
    """Translate the sources of `pairs` and score the translations.

    Several models translate as an `Ensemble`. Search and bits per character both use the mean of the models'
    probabilities.

    A model with the length rule "pair" gets the length of each reference, as in the thesis: otherwise no translation
    could be longer than its source. The settings of the evaluation say so.

    Args:
        run_dir: a run folder, a `.bytenet` file, or the name of a pretrained model.
        pairs: sources and references.
        name: of the test set.
        bootstrap: number of resampled corpora for the intervals.
        progress: called with the number of lines translated so far.
        jit_compile: compile the search with XLA; None compiles it if that is faster, see `Translator`.
        together_with: other models, like `run_dir`, that translate together with it.
        **options: of the search, fields of `bytenet.config.DecodingConfig`; None takes the value of the run's
            configuration.

    Returns:
        The translations, their scores and the settings of the search. They are not saved.

    Raises:
        ConfigError: an option has a value that it cannot have.
        InputError: a model cannot be used, several do not belong together, or there are no pairs; or a text is too
            long for the model or has a character that it refuses.
        TypeError: there is no such option.
    """
    from bytenet.decoding import Translator, log_probabilities

    if not len(pairs):
        raise InputError(f"{name} has no sentences. Give at least one sentence with its reference.")
    models = open_models([run_dir, *together_with])
    # Before the model is loaded, since a training may save another one meanwhile.
    model_sha256 = models[0].model_sha256 if len(models) == 1 and isinstance(models[0], RunFolder) else None
    translator = Translator.from_run(*models, jit_compile=jit_compile, **options)
    uses_reference_lengths = translator.model.length_policy.pads_to_pair
    # It takes much less time than the search, and fails if a reference cannot be scored.
    likelihoods = log_probabilities(
        translator.model, translator.vocabulary, pairs.source, pairs.target, translator.decoding.batch_size,
        translator.trained_lengths,
    )  # fmt: skip
    began = time.perf_counter()
    best = _translate(translator, pairs, uses_reference_lengths, progress)
    seconds = time.perf_counter() - began
    hypotheses = [translation.text for translation in best]
    ensemble = {"models": [str(model.path) for model in models]} if len(models) > 1 else {}
    return Evaluation(
        name=name,
        sources=pairs.source,
        references=pairs.target,
        hypotheses=hypotheses,
        scores=[
            *text_scores(hypotheses, pairs.target, models[0].config.data.languages[1], bootstrap),
            bits_per_character(likelihoods.log_probabilities, likelihoods.num_characters, bootstrap),
        ],
        settings={
            **ensemble,
            **translator.decoding.in_use,
            "jit_compile": translator.batch_search.compilation.jit_compile,
            "reference_lengths_known": uses_reference_lengths,
        },
        seconds=seconds,
        num_unended=sum(not translation.ended for translation in best),
        model_sha256=model_sha256,
    )


def text_scores(
    hypotheses: Sequence[str], references: Sequence[str], language: str, bootstrap: int = 1000
) -> list[Score]:
    """All scores that compare texts: BLEU, chrF, length ratio, the thesis's BLEU, exact match, misclassification.

    Args:
        hypotheses: the translations.
        references: the correct translations.
        language: of the translations, for the tokenisers of both kinds of BLEU.
        bootstrap: number of resampled corpora for the intervals; 0 for none.

    Returns:
        The scores in this order.

    Raises:
        InputError: the numbers of hypotheses and references differ, or there are none.
    """
    check_parallel(hypotheses, references)
    measures = bleu_measures(language)
    counts = measures[0].count(hypotheses, references)
    bleu, length_ratio = (measure.score(counts, bootstrap, DEFAULT_SEED) for measure in measures)
    return [
        bleu,
        chrf(hypotheses, references, bootstrap),
        length_ratio,
        thesis_bleu(hypotheses, references, language, bootstrap=bootstrap),
        exact_match(hypotheses, references, bootstrap),
        sentence_misclassification(hypotheses, references),
    ]


def _translate(
    translator: "Translator", pairs: Pairs, uses_reference_lengths: bool, progress: Callable[[int], None]
) -> list["Translation"]:
    lengths = pair_lengths(pairs, translator.vocabulary).tolist() if uses_reference_lengths else None
    best = []
    for translations in translator.translate(pairs.source, pair_lengths=lengths, split_sentences=False):
        best.append(translations[0])
        progress(len(best))
    return best
