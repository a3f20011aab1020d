"""`bytenet translate`: translate lines of text."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from bytenet.cli.common.given_option import given_option
from bytenet.cli.common.messages import say
from bytenet.cli.common.search_options import NOT_FOR_LITE, options_of_full_engine, search_options
from bytenet.cli.common.translation_progress import translation_progress
from bytenet.cli.translate.engines import MOST_LINES_FOR_LITE, Engine, full_engine, lite_engine, suits_lite
from bytenet.cli.translate.inputs import (
    STANDARD,
    check_no_text_file,
    is_input,
    lines_of_file,
    lines_of_stdin,
    models_and_file,
)
from bytenet.cli.translate.output import open_output
from bytenet.lite.empty_translations import EmptyTranslations
from bytenet.lite.lines import formatted, lines_in_words, message_on_limit
from bytenet.lite.lines_by_sentence import LinesBySentence
from bytenet.lite.reranking import explaining_missing_reranker
from bytenet.lite.unknown_characters import UnknownCharacters


def _check_no_empty_path(context: click.Context, argument: click.Parameter, paths: tuple[str, ...]) -> tuple[Path, ...]:
    """The paths. An empty one would be the current folder."""
    if "" in paths:
        raise click.BadParameter("An argument is empty. Give models and a file, or leave it out to read stdin.")
    return tuple(map(Path, paths))


@click.command()
@click.argument(
    "paths", metavar="MODEL... [FILE]", required=True, nargs=-1, callback=_check_no_empty_path, type=click.Path()
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file (plain or .gz); - is stdout. It appears when everything is translated.",
)
@click.option("--n-best", type=click.IntRange(min=1), default=1, help="Number of translations of each line.")
@click.option(
    "--split/--no-split", default=None,
    help="Translate each line sentence by sentence; or whole, as `bytenet evaluate` does.  [default: --split; with "
    "--n-best above 1, --no-split]",
)  # fmt: skip
@click.option(
    "--engine", "engine_name", type=click.Choice(["full", "lite"]),
    help="Engine: TensorFlow (full); or LiteRT (lite) for a .bytenet file, which starts at once.  [default: "
    f"lite for such a file, unless another option or more than {MOST_LINES_FOR_LITE} lines of a file need TensorFlow]",
)  # fmt: skip
@search_options
@click.option(
    "--dictionary", type=click.Path(path_type=Path, dir_okay=False),
    help='Translations for --replace-unknown, a line for each: "character TAB translation". Others are copied.',
)  # fmt: skip
@click.option(
    "--window", type=click.IntRange(min=1),
    help="Number of sentences to read before the first one is translated; 1 answers each line at once.  "
    "[default: 16 batches; typed lines: 1]",
)  # fmt: skip
def translate(
    paths: tuple[Path, ...],
    output: Path | None,
    n_best: int,
    split: bool | None,
    engine_name: str | None,
    dictionary: Path | None,
    window: int | None,
    **options: Any,
) -> None:
    """Translate the lines of FILE (plain or .gz), or of stdin, with MODEL. A FILE - is stdin, too.

    MODEL is a run folder, a .bytenet file that `bytenet export` wrote, or the name of a pretrained model (see
    `bytenet models`). Several MODEL translate together, as an ensemble: the probabilities of their models are averaged.
    The models may be of different families, but need the same vocabulary.

    Each input line gives one output line, and a blank line gives a blank line. Models learn from sentences, so lines
    are split into sentences. Use --no-split for test sets: it gives the translations that `bytenet evaluate` scores.
    With --n-best above 1, each line gives up to that many lines of number, score and translation, separated by tabs.

    Options that are not given come from the section `decoding` of the configuration of the first MODEL. With --engine
    lite, they are those of the export, except --rerank-with and --rerank-weight.
    """
    is_whole_for_n_best = split is None and n_best > 1
    if split is None:
        split = n_best == 1
    elif split and n_best > 1:
        raise click.UsageError("--split gives one translation of each line. Leave out --split or --n-best.")
    names, input_path = models_and_file(paths)
    check_no_text_file(names)
    if output == STANDARD:
        output = None
    if input_path is None and sys.stdin is None:
        raise click.UsageError("There is no standard input. Give a FILE.")
    if output is None and sys.stdout is None:
        raise click.UsageError("There is no standard output. Give --output.")
    is_typed = input_path is None and sys.stdin.isatty()
    if is_typed:
        window = window or 1
    lines = lines_of_stdin() if input_path is None else lines_of_file(input_path, names[0])
    if output is not None and is_input(output, input_path):
        raise click.UsageError("--output is the input itself, and its lines would be lost. Give another file.")
    num_lines = len(lines) if _shows_progress(output) and isinstance(lines, Sized) else None
    engine = _engine(engine_name, names, lines, n_best, dictionary, window, options)
    if engine.is_for_few_lines and engine_name is None and not is_typed and not isinstance(lines, Sized):
        lines = _with_advice(lines)
    unknown = UnknownCharacters(engine.known) if engine.known is not None else None
    empty = EmptyTranslations()
    if unknown:
        lines = unknown.watch(lines)
    lines = empty.watch(lines)
    by_sentence = engine.by_sentence() if split or is_whole_for_n_best else None
    if by_sentence and split:
        translations = by_sentence.translate(lines, engine.translate)
    else:
        translations = engine.translate(by_sentence.watch(lines) if by_sentence else lines)
    if is_typed:
        say("Type a sentence and press Enter. Ctrl-D ends.")
    began, number, num_unended = time.perf_counter(), 0, 0
    with open_output(output) as file, _progress(num_lines) as progress:
        for number, hypotheses in enumerate(translations, start=1):
            file.write(formatted(number, hypotheses, n_best).encode())
            if output is None or output.suffix != ".gz":  # gzip compresses short pieces badly
                file.flush()
            num_unended += not hypotheses[0].ended
            empty.count(hypotheses)
            progress(number)
    seconds = time.perf_counter() - began
    message = f"Translated {lines_in_words(number)} in {seconds:.1f} s ({engine.name}, {engine.search})."
    if by_sentence:
        message += _reasons_of_splitting(by_sentence) if split else _advice_on_whole_lines(by_sentence.num_with_several)
    say(" ".join(filter(None, [message, message_on_limit(num_unended), empty.message])))
    if unknown and unknown.message:
        say(unknown.message)


def _shows_progress(output: Path | None) -> bool:
    """Whether to show the progress. Translations on the terminal show the progress themselves."""
    if sys.stderr is None:
        return False
    if output is None:
        return sys.stderr.isatty() and not sys.stdout.isatty()
    return output.is_file() or not output.exists()


def _progress(num_lines: int | None) -> AbstractContextManager[Callable[[int], None]]:
    """Shows the progress for a known number of lines, else nothing."""
    return nullcontext(lambda done: None) if num_lines is None else translation_progress(num_lines)


def _engine(
    name: str | None,
    models: tuple[Path, ...],
    lines: Iterable[str],
    n_best: int,
    dictionary: Path | None,
    window: int | None,
    options: dict[str, Any],
) -> Engine:
    """The engine of a name, or the one that suits the models and the options."""
    from bytenet.model_file import ModelFile
    from bytenet.trained_model import find_model

    paths = [find_model(model) for model in models]
    needs_full = options_of_full_engine(options)
    if dictionary is not None:
        needs_full.append("dictionary")
    if window not in (None, 1):
        needs_full.append("window")
    if name == "lite" and needs_full:
        raise click.UsageError(NOT_FOR_LITE)
    reranker, weight = None, options["rerank_weight"]
    if options["rerank_with"] and weight != 0:
        with explaining_missing_reranker():
            reranker = find_model(options["rerank_with"])
    if name == "lite" or (name is None and not needs_full and suits_lite(paths, lines, reranker, weight)):
        return lite_engine(paths, n_best, reranker, weight)
    instead_of_lite = None
    # A weight of 0: the reranker of the file may be missing, and an option may turn it off.
    if name is None and needs_full and suits_lite(paths, lines, rerank_weight=0.0) and ModelFile(paths[0]).has_weights:
        instead_of_lite = given_option(click.get_current_context(), needs_full)
    return full_engine(paths, n_best, dictionary, window, options, instead_of_lite)


def _with_advice(lines: Iterable[str]) -> Iterator[str]:
    """The same lines. If they are many, a message says once how they are translated faster."""
    for number, line in enumerate(lines):
        if number == MOST_LINES_FOR_LITE:
            say(
                f"The input has more than {MOST_LINES_FOR_LITE} lines, and LiteRT translates them. For long inputs, "
                "TensorFlow is faster: give a FILE, or --engine full."
            )
        yield line


def _reasons_of_splitting(by_sentence: LinesBySentence) -> str:
    """Sentences that say why lines were split, after a space; nothing if none was."""
    counts = {
        "several sentences": by_sentence.num_with_several,
        f"a sentence of more than {by_sentence.max_chars} characters": by_sentence.num_with_long,
    }
    reasons = [f"{lines_in_words(number)} had {what}" for what, number in counts.items() if number]
    return f" {', '.join(reasons)}; --no-split translates each line whole." if reasons else ""


def _advice_on_whole_lines(number: int) -> str:
    """Sentences about lines with several sentences that `--n-best` left whole, after a space; nothing for 0 lines."""
    if not number:
        return ""
    verbs = "has several sentences and was" if number == 1 else "have several sentences and were"
    return (
        f" {lines_in_words(number)} {verbs} translated whole, because of --n-best. Give one sentence per line for "
        "better translations."
    )
