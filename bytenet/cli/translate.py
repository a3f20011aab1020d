"""`bytenet translate`: translate lines of text."""

import gzip
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from bytenet.cli.common.search_options import read_dictionary, search_options

if TYPE_CHECKING:
    from bytenet.decoding import Translation


@click.command(short_help="Translate lines of text.")
@click.argument("paths", metavar="RUN... [FILE]", required=True, nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file (plain or .gz). It appears when everything is translated.",
)
@click.option("--n-best", type=click.IntRange(min=1), default=1, help="Number of translations of each line.")
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
    dictionary: Path | None,
    window: int | None,
    **options: Any,
) -> None:
    """Translate the lines of FILE (plain or .gz), or of stdin, with the model in the folder RUN.

    Several folders RUN translate together, as an ensemble: the probabilities of their models are averaged. The models
    may be of different families, but need the same vocabulary.

    Each line gives one line, and a blank line gives a blank line. With --n-best above 1, each line gives up to that
    many lines of number, score and translation, separated by tabs. Options that are not given come from the section
    `decoding` of the configuration of the first RUN.
    """
    from bytenet.datasets import read_lines
    from bytenet.run_folder import RunFolder

    runs, input_path = _runs_and_file(paths)
    folders = [RunFolder.open(run) for run in runs]
    beam_size = options["beam_size"] or folders[0].config.decoding.beam_size
    if n_best > beam_size:
        raise click.UsageError(f"--n-best {n_best} needs --beam-size {n_best} or more; it is {beam_size}.")
    lines: Iterable[str]
    if input_path is not None:
        lines = read_lines(input_path, allow_empty=True)
    else:
        stdin = sys.stdin.buffer
        lines = _decoded_lines(stdin)
        if stdin.isatty():
            window = window or 1
    entries = read_dictionary(dictionary)
    replaces_unknown = options["replace_unknown"]
    if replaces_unknown is None:
        replaces_unknown = folders[0].config.decoding.replace_unknown
    if entries and not replaces_unknown:
        raise click.UsageError("--dictionary needs --replace-unknown.")

    from bytenet.decoding import Translator

    translator = Translator.from_run(*folders, dictionary=entries, **options)
    began, number, num_unended = time.perf_counter(), 0, 0
    with _open_output(output) as file:
        for number, translations in enumerate(translator.translate(lines, n_best, window), start=1):
            file.write(_formatted(number, translations, n_best).encode())
            if output is None or output.suffix != ".gz":  # gzip compresses short pieces badly
                file.flush()
            num_unended += not translations[0].ended
    count = "1 line" if number == 1 else f"{number} lines"
    message = f"Translated {count} in {time.perf_counter() - began:.1f} s (beam size {beam_size})."
    if num_unended:
        message += f" {num_unended} reached the length limit without an end."
    click.echo(message, err=True)


def _runs_and_file(paths: tuple[Path, ...]) -> tuple[tuple[Path, ...], Path | None]:
    """Split the arguments. The last one is a file if there are others and it is not a folder."""
    if len(paths) > 1 and not paths[-1].is_dir():
        return paths[:-1], paths[-1]
    return paths, None


def _decoded_lines(stream: BinaryIO) -> Iterator[str]:
    """Read lines of a UTF-8 stream one by one, without "\\n" or "\\r\\n", and without a byte order mark at the start.

    In a file, "\\r" is removed only if all lines end with it. In a stream the later lines are not known yet.

    Raises:
        InputError: a line is not UTF-8 or has a NUL.
    """
    from bytenet.errors import InputError

    for number, line in enumerate(stream, start=1):
        if b"\0" in line:
            raise InputError(f"stdin:{number}: found a NUL character; expected text. Convert it to UTF-8 first.")
        try:
            text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
            yield text.removeprefix("\ufeff") if number == 1 else text
        except UnicodeDecodeError as error:
            raise InputError(
                f"stdin:{number}: byte {error.start + 1} of the line is 0x{line[error.start]:02x}; expected UTF-8. "
                "Convert the text first, for example with iconv -f ISO-8859-1 -t UTF-8."
            ) from error


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


def _formatted(number: int, translations: "list[Translation]", n_best: int) -> str:
    if n_best == 1:
        return f"{translations[0].text}\n"
    return "".join(f"{number}\t{hypothesis.score:.4f}\t{hypothesis.text}\n" for hypothesis in translations)
