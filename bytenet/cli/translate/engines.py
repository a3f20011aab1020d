"""What translates for `bytenet translate`: TensorFlow or LiteRT."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from bytenet.cli.common.messages import say
from bytenet.cli.common.search_options import search_with
from bytenet.cli.translate.dictionary import read_dictionary
from bytenet.lite.archive import is_model_file
from bytenet.lite.lines_by_sentence import LinesBySentence
from bytenet.lite.translation import Translation

MOST_LINES_FOR_LITE = 200
"""Longer files are left to TensorFlow: it starts some seconds later, and then needs less time for each line."""


class Engine(NamedTuple):
    """What translates.

    Attributes:
        name: for messages.
        translate: gives the hypotheses of each line, best first. Lines stay whole.
        by_sentence: makes what splits lines into sentences for `translate`.
        search: what it does, for messages.
        known: the characters that the model knows; None if it refuses others or copies them.
        is_for_few_lines: whether TensorFlow could translate, too, and is faster for many lines.
    """

    name: str
    translate: Callable[[Iterable[str]], Iterator[list[Translation]]]
    by_sentence: Callable[[], LinesBySentence]
    search: str
    known: frozenset[str] | None
    is_for_few_lines: bool


def suits_lite(
    paths: Sequence[Path], lines: Iterable[str], rerank_with: Path | None = None, rerank_weight: float | None = None
) -> bool:
    """Whether LiteRT translates as TensorFlow does, and is likely to be faster; or only LiteRT can translate.

    Args:
        paths: of run folders and model files.
        lines: a list if their number is known.
        rerank_with, rerank_weight: as for `bytenet.lite.Translator`.
    """
    from bytenet.model_file import ModelFile

    if len(paths) > 1 or not is_model_file(paths[0]):
        return False
    model = ModelFile(paths[0])
    is_long = isinstance(lines, list) and len(lines) > MOST_LINES_FOR_LITE
    return not model.has_weights or (not is_long and model.suits_lite(rerank_with, rerank_weight))


def full_engine(
    paths: Sequence[Path],
    n_best: int,
    dictionary: Path | None,
    window: int | None,
    options: dict[str, Any],
    instead_of_lite: str | None,
) -> Engine:
    """Translation with TensorFlow.

    Args:
        paths: of run folders and model files.
        n_best, dictionary, window: of the command.
        options: of the search.
        instead_of_lite: the option because of which LiteRT does not translate; None if it could not anyway.
    """
    from bytenet.trained_model import open_models

    models = open_models(paths)
    decoding = search_with(models[0].config.decoding, options)
    samples, beam_size, replaces_unknown = decoding.samples, decoding.beam_size, decoding.replace_unknown
    _check_n_best(n_best, "--samples" if samples else "--beam-size", samples or beam_size)
    entries = read_dictionary(dictionary)
    if entries and not replaces_unknown:
        raise click.UsageError("--dictionary needs --replace-unknown.")
    if instead_of_lite:
        say(f"Loading TensorFlow, because {instead_of_lite} is given. LiteRT has only the options of the export ...")

    from bytenet.decoding import Translator

    translator = Translator.from_run(*models, dictionary=entries, **options)
    return Engine(
        "TensorFlow",
        lambda lines: translator.translate(lines, n_best, window, split_sentences=False),
        translator.by_sentence,
        f"number of samples {samples}" if samples else f"beam size {beam_size}",
        None if replaces_unknown or translator.vocabulary.unknown == "error" else translator.vocabulary.known,
        is_for_few_lines=False,
    )


def lite_engine(paths: Sequence[Path], n_best: int, rerank_with: Path | None, rerank_weight: float | None) -> Engine:
    """Translation with LiteRT."""
    from bytenet.lite import Translator
    from bytenet.model_file import ModelFile

    if len(paths) > 1 or paths[0].is_dir():
        raise click.UsageError("--engine lite takes one .bytenet file, which `bytenet export RUN FILE.bytenet` writes.")
    if rerank_with is not None and rerank_with.is_dir():
        raise click.UsageError(
            f"LiteRT cannot rank with the folder {rerank_with}. Give --rerank-with the name of a pretrained model, or "
            "a .bytenet file, which `bytenet export` writes."
        )
    translator = Translator(paths[0], rerank_with=rerank_with, rerank_weight=rerank_weight)
    _check_n_best_of_export(n_best, translator.beam_size, paths[0])
    return Engine(
        "LiteRT",
        lambda lines: translator.translate(lines, n_best, split_sentences=False),
        translator.by_sentence,
        f"beam size {translator.beam_size}",
        None if translator.characters.unknown == "error" else translator.characters.known,
        is_for_few_lines=ModelFile(paths[0]).has_weights,
    )


def _check_n_best(n_best: int, option: str, num_hypotheses: int) -> None:
    """Check `n_best` against the number of hypotheses, which an option sets."""
    if n_best > num_hypotheses:
        raise click.UsageError(f"--n-best {n_best} needs {option} {n_best} or more; it is {num_hypotheses}.")


def _check_n_best_of_export(n_best: int, beam_size: int, path: Path) -> None:
    """Check `n_best` against the beam size of a model file, which LiteRT cannot change."""
    from bytenet.model_file import ModelFile

    if n_best <= beam_size:
        return
    if ModelFile(path).has_weights:
        advice = f"Give --beam-size {n_best}, without --engine lite."
    else:
        advice = f"Export the model again with --beam-size {n_best}."
    raise click.UsageError(f"--n-best {n_best} is more than {beam_size}, the beam size of the export. {advice}")
