"""`bytenet translate`: translate lines of text."""

import gzip
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

if TYPE_CHECKING:
    from bytenet.decoding import Translation


@click.command(short_help="Translate lines of text.")
@click.argument("run_dir", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("input_path", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file (plain or .gz). It appears when everything is translated.",
)
@click.option("--beam-size", type=click.IntRange(min=1), help="Number of hypotheses that are kept; 1 is greedy search.")
@click.option("--n-best", type=click.IntRange(min=1), default=1, help="Number of translations of each line.")
@click.option("--length-penalty", type=click.FloatRange(min=0), help="Larger values favour longer translations.")
@click.option("--batch-size", type=click.IntRange(min=1), help="Number of lines that are translated at once.")
@click.option("--max-length", type=click.IntRange(min=1), help="Largest number of symbols of a translation.")
@click.option(
    "--window", type=click.IntRange(min=1),
    help="Number of lines to read before the first one is translated; 1 answers each line at once.  "
    "[default: 16 batches; typed lines: 1]",
)  # fmt: skip
@click.option(
    "--xla/--no-xla",
    default=None,
    help="Compile the search with XLA or not.  [default: compile the shapes of batches with enough work for it]",
)
def translate(
    run_dir: Path,
    input_path: Path | None,
    output: Path | None,
    beam_size: int | None,
    n_best: int,
    length_penalty: float | None,
    batch_size: int | None,
    max_length: int | None,
    window: int | None,
    xla: bool | None,
) -> None:
    """Translate the lines of FILE (plain or .gz), or of stdin, with the model in the folder RUN.

    Each line gives one line, and a blank line gives a blank line. With --n-best above 1, each line gives up to that
    many lines of number, score and translation, separated by tabs. Options that are not given come from the section
    `decoding` of RUN's configuration.
    """
    from bytenet.datasets import read_lines
    from bytenet.run_folder import RunFolder

    folder = RunFolder.open(run_dir)
    beam_size = beam_size or folder.config.decoding.beam_size
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

    from bytenet.decoding import Translator

    translator = Translator.from_run(
        folder,
        beam_size=beam_size,
        length_penalty=length_penalty,
        batch_size=batch_size,
        max_length=max_length,
        jit_compile=xla,
    )
    began, number, num_unended = time.perf_counter(), 0, 0
    with _open_output(output) as file:
        for number, translations in enumerate(translator.translate(lines, n_best, window), start=1):
            file.write(_formatted(number, translations, n_best).encode())
            if output is None or output.suffix != ".gz":  # gzip compresses short pieces badly
                file.flush()
            num_unended += not translations[0].ended
    message = f"Translated {number} lines in {time.perf_counter() - began:.1f} s (beam size {beam_size})."
    if num_unended:
        message += f" {num_unended} reached the length limit without an end."
    click.echo(message, err=True)


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
