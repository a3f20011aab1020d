"""`bytenet translate`: translate lines of text."""

import gzip
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click

from bytenet.cli.common.search_options import read_dictionary, search_options
from bytenet.lite.archive import is_model_file
from bytenet.lite.lines import decoded_lines, formatted
from bytenet.lite.translation import Translation

_Translate = Callable[[Iterable[str]], Iterator[list[Translation]]]


@click.command(short_help="Translate lines of text.")
@click.argument("paths", metavar="RUN... [FILE]", required=True, nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file (plain or .gz). It appears when everything is translated.",
)
@click.option("--n-best", type=click.IntRange(min=1), default=1, help="Number of translations of each line.")
@click.option(
    "--engine", type=click.Choice(["full", "lite"]), default="full", show_default=True,
    help="What computes: TensorFlow (full), or for a .bytenet file LiteRT (lite), which starts at once.",
)  # fmt: skip
@search_options
@click.option(
    "--dictionary", type=click.Path(path_type=Path, dir_okay=False),
    help='Translations for --replace-unknown, a line for each: "character TAB translation". Others are copied.',
)  # fmt: skip
@click.option(
    "--window", type=click.IntRange(min=1),
    help="Number of lines to read before the first one is translated; 1 answers each line at once.  "
    "[default: 16 batches; typed lines: 1]",
)  # fmt: skip
def translate(
    paths: tuple[Path, ...],
    output: Path | None,
    n_best: int,
    engine: str,
    dictionary: Path | None,
    window: int | None,
    **options: Any,
) -> None:
    """Translate the lines of FILE (plain or .gz), or of stdin, with the model in RUN.

    RUN is the folder of a run, or a .bytenet file that `bytenet export` wrote. Several RUN translate together, as an
    ensemble: the probabilities of their models are averaged. The models may be of different families, but need the
    same vocabulary.

    Each line gives one line, and a blank line gives a blank line. With --n-best above 1, each line gives up to that
    many lines of number, score and translation, separated by tabs. Options that are not given come from the section
    `decoding` of the configuration of the first RUN. With --engine lite, they are those of the export.
    """
    runs, input_path = _runs_and_file(paths)
    stdin = sys.stdin.buffer
    if input_path is None and stdin.isatty():
        window = window or 1
    lines = decoded_lines(stdin) if input_path is None else _lines_of_file(input_path)
    if engine == "lite":
        if dictionary or window not in (None, 1) or any(value is not None for value in options.values()):
            raise click.UsageError("With --engine lite, the options of the search are those of the export.")
        translate_lines, beam_size = _lite_translator(runs, n_best)
    else:
        translate_lines, beam_size = _full_translator(runs, n_best, dictionary, window, options)
    began, number, num_unended = time.perf_counter(), 0, 0
    with _open_output(output) as file:
        for number, translations in enumerate(translate_lines(lines), start=1):
            file.write(formatted(number, translations, n_best).encode())
            if output is None or output.suffix != ".gz":  # gzip compresses short pieces badly
                file.flush()
            num_unended += not translations[0].ended
    count = "1 line" if number == 1 else f"{number} lines"
    message = f"Translated {count} in {time.perf_counter() - began:.1f} s (beam size {beam_size})."
    if num_unended:
        message += f" {num_unended} reached the length limit without an end."
    click.echo(message, err=True)


def _runs_and_file(paths: tuple[Path, ...]) -> tuple[tuple[Path, ...], Path | None]:
    """Split the arguments. The last one is a file if there are others and it is no folder and no model file."""
    if len(paths) > 1 and not paths[-1].is_dir() and not is_model_file(paths[-1]):
        return paths[:-1], paths[-1]
    return paths, None


def _full_translator(
    runs: tuple[Path, ...], n_best: int, dictionary: Path | None, window: int | None, options: dict[str, Any]
) -> tuple[_Translate, int]:
    """The translation of lines with TensorFlow, and the beam size."""
    from bytenet.model_file import open_model

    models = [open_model(run) for run in runs]
    beam_size = options["beam_size"] or models[0].config.decoding.beam_size
    _check_n_best(n_best, beam_size)
    entries = read_dictionary(dictionary)
    replaces_unknown = options["replace_unknown"]
    if replaces_unknown is None:
        replaces_unknown = models[0].config.decoding.replace_unknown
    if entries and not replaces_unknown:
        raise click.UsageError("--dictionary needs --replace-unknown.")

    from bytenet.decoding import Translator

    translator = Translator.from_run(*models, dictionary=entries, **options)
    return lambda lines: translator.translate(lines, n_best, window), beam_size


def _lite_translator(runs: tuple[Path, ...], n_best: int) -> tuple[_Translate, int]:
    """The translation of lines with LiteRT, and the beam size."""
    from bytenet.lite import Translator

    if len(runs) > 1 or runs[0].is_dir():
        raise click.UsageError("--engine lite takes one .bytenet file, which `bytenet export RUN FILE.bytenet` writes.")
    translator = Translator(runs[0])
    _check_n_best(n_best, translator.beam_size)
    return lambda lines: translator.translate(lines, n_best), translator.beam_size


def _check_n_best(n_best: int, beam_size: int) -> None:
    if n_best > beam_size:
        raise click.UsageError(f"--n-best {n_best} needs --beam-size {n_best} or more; it is {beam_size}.")


def _lines_of_file(path: Path) -> Iterable[str]:
    from bytenet.datasets import read_lines

    return read_lines(path, allow_empty=True)


@contextmanager
def _open_output(path: Path | None) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open the output: stdout for None, a device or a pipe, or a file that appears only when it is complete."""
    if path is None:
        yield sys.stdout.buffer
        return
    if path.exists() and not path.is_file():
        with open(path, "wb") as file:
            yield file
        return
    from bytenet.files import atomic_path

    with atomic_path(path) as partial, open(partial, "wb") as file:
        if path.suffix != ".gz":
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
            yield compressed
