"""`bytenet translate`: lines in, translations out."""

import gzip
import sys
import time
from collections.abc import Iterator
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
    help="Write to this file (plain or .gz) once all is translated.",
)
@click.option("--beam-size", type=click.IntRange(min=1), help="Hypotheses kept a line; 1 is greedy search.")
@click.option("--n-best", type=click.IntRange(min=1), default=1, help="Translations wanted of each line.")
@click.option("--length-penalty", type=click.FloatRange(min=0), help="0 does not favour longer translations.")
@click.option("--batch-size", type=click.IntRange(min=1), help="Lines translated at once.")
@click.option("--max-length", type=click.IntRange(min=1), help="Most symbols of a translation, its end counted.")
@click.option(
    "--window", type=click.IntRange(min=1),
    help="Lines read before the first is translated; 1 answers each at once.  [default: 16 batches; typed lines: 1]",
)  # fmt: skip
@click.option(
    "--xla/--no-xla",
    default=None,
    help="Compile the search with XLA. Without either, the shapes of batches that have enough work for it are.",
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
    """Translate FILE (plain or .gz), or what comes in on stdin, with the model in the folder RUN.

    One line in gives one line out; a blank line gives a blank line. With --n-best above 1, each line gives
    up to so many lines of number, score and translation, separated by tabs. What is not given is as RUN's
    configuration says under decoding.
    """
    from bytenet.datasets import read_lines
    from bytenet.run_folder import RunFolder

    folder = RunFolder.open(run_dir)
    beam_size = beam_size or folder.config.decoding.beam_size
    if n_best > beam_size:
        raise click.UsageError(f"--n-best {n_best} needs --beam-size {n_best} or more; it is {beam_size}.")
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
            if output is None or output.suffix != ".gz":  # which short pieces would swell
                file.flush()
            num_unended += not translations[0].ended
    message = f"Translated {number} lines in {time.perf_counter() - began:.1f} s (beam size {beam_size})."
    if num_unended:
        message += f" {num_unended} reached the length limit without an end."
    click.echo(message, err=True)


def _decoded_lines(stream: BinaryIO) -> Iterator[str]:
    """Lines of a UTF-8 stream as they come, without "\\n" or "\\r\\n" and a byte order mark at the start.

    A file loses "\\r" only where all of its lines end so; here the later lines are not known yet.

    Raises:
        InputError: a line is not UTF-8, or holds a NUL.
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
                f"stdin:{number}: byte {error.start + 1} of the line is 0x{line[error.start]:02x}, which is "
                "not valid UTF-8 there. Convert the text first, perhaps with iconv -f ISO-8859-1 -t UTF-8."
            ) from error


@contextmanager
def _open_output(path: Path | None) -> Iterator[BinaryIO]:
    """stdout, or a file that appears under its name only when it is complete; a device or a pipe is written to."""
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
    return "".join(f"{number}\t{found.score:.4f}\t{found.text}\n" for found in translations)
