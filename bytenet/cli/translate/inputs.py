"""What `bytenet translate` reads: its models, and the lines of a file or of standard input."""

import os
import shlex
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from bytenet.lite.archive import is_model_file
from bytenet.lite.lines import decoded_lines
from bytenet.lite.pretrained import is_pretrained, pretrained_names

STANDARD = Path("-")  # standard input or output


def models_and_file(paths: tuple[Path, ...]) -> tuple[tuple[Path, ...], Path | None]:
    """Split the arguments. The last one is a file if there are others, and if it cannot be a model.

    The file is None for standard input: without a file, or with - if there is no file of this name.
    """
    last = paths[-1]
    if len(paths) > 1 and not os.path.isdir(last) and not is_model_file(last) and not is_pretrained(last):
        return paths[:-1], None if last == STANDARD and not last.exists() else last
    return paths, None


def check_no_text_file(models: tuple[Path, ...]) -> None:
    """Raise a UsageError if a file in the place of a model cannot be one. A settings file has another message."""
    pretrained = pretrained_names()
    for model in models:
        if not os.path.isfile(model) or is_model_file(model) or model.suffix in (".yaml", ".yml"):
            continue
        if model.suffix in (".keras", ".tflite"):
            advice = "Give the folder of the run, or a .bytenet file that `bytenet export` wrote"
        else:
            command = f"bytenet translate {pretrained[0] if pretrained else 'MODEL'} {shlex.quote(str(model))}"
            place = "The first argument is the model" if model == models[0] else "Give one FILE, as the last argument"
            advice = f"{place}, for example: {command}"
        raise click.UsageError(
            f"{model} is not a model. {advice}. A model is the name of a pretrained model "
            f"({', '.join(pretrained) or 'none is installed'}), a .bytenet file, or the folder of a run."
        )


def lines_of_stdin() -> Iterable[str]:
    """The lines of standard input: a list if it is a file, so that their number is known; else one by one."""
    lines = decoded_lines(sys.stdin.buffer)
    try:
        is_file = stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    except OSError:  # standard input has no file descriptor
        is_file = False
    return list(lines) if is_file else lines


def lines_of_file(path: Path, model: Path) -> Iterable[str]:
    """The lines of a file. If there is none, the error says how `model` translates a text, which FILE may be."""
    from bytenet.datasets import read_lines
    from bytenet.errors import MissingFileError

    try:
        return read_lines(path, allow_empty=True)
    except MissingFileError as error:
        command = f"echo {shlex.quote(str(path))} | bytenet translate {shlex.quote(str(model))}"
        raise MissingFileError(f"{error} To translate a text: {command}") from None


def is_input(output: Path, input_path: Path | None) -> bool:
    """Whether a file is the input: FILE, or the file that is standard input."""
    if not output.is_file():
        return False
    if input_path is not None:
        return output.samefile(input_path)
    try:
        return os.path.samestat(output.stat(), os.fstat(sys.stdin.fileno()))
    except OSError:  # standard input has no file descriptor
        return False
