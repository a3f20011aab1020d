"""`bytenet-lite MODEL [FILE]`, also `python -m bytenet.lite`: translate lines without TensorFlow."""

import argparse
import os
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.lite.lines import decoded_lines, formatted
from bytenet.lite.reranking import check_weight
from bytenet.lite.translator import Translator


def main(arguments: list[str] | None = None) -> int:
    """Translate. Returns the exit code: 0 success; 1 failure; 2 options that the model does not allow.

    A message explains each failure. Options that the parser refuses end the process with 2.
    """
    parser = argparse.ArgumentParser(
        prog="bytenet-lite",
        description="Translate the lines of FILE, or of stdin. Each line gives one line, a blank line a blank line.",
    )
    parser.add_argument(
        "model", metavar="MODEL", type=Path,
        help="a .bytenet file that `bytenet export` wrote, or the name of a pretrained model, such as de-en",
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", type=Path, nargs="?", help="UTF-8 text")
    parser.add_argument("--n-best", type=_number, default=1, help="number of translations of each line (default: 1)")
    parser.add_argument(
        "--split", action=argparse.BooleanOptionalAction,
        help="translate each line sentence by sentence, or whole (default: by sentence if the library sentencex is "
        "installed; with --n-best above 1, whole)",
    )  # fmt: skip
    parser.add_argument("--threads", type=_number, default=1, help="processor cores for one line (default: 1)")
    parser.add_argument(
        "--rerank-with", metavar="MODEL", type=Path,
        help="rerank the hypotheses of the beam with this model of the other direction",
    )  # fmt: skip
    parser.add_argument(
        "--rerank-weight",
        type=_weight,
        help="weight of that model; 0 turns it off (default: the one in the file, else 1)",
    )
    options = parser.parse_intermixed_args(arguments)  # options may stand between MODEL and FILE
    if options.file is None and sys.stdin is None:
        parser.error("There is no standard input. Give a FILE.")
    if sys.stdout is None:
        parser.error("There is no standard output for the translations.")
    if options.split and options.n_best > 1:
        parser.error("--split gives one translation of each line. Leave out --split or --n-best.")
    try:
        if options.file and (not options.file.exists() or options.file.is_dir()):
            kind = "is a folder" if options.file.is_dir() else "does not exist"
            raise MissingFileError(f"{options.file} {kind}; expected a text file with one sentence per line.")
        translator = Translator(options.model, options.threads, options.rerank_with, options.rerank_weight)
        if options.n_best > translator.beam_size:
            parser.error(f"argument --n-best: at most {translator.beam_size}, the beam size of the model")
        with ExitStack() as files:
            stream: BinaryIO = files.enter_context(open(options.file, "rb")) if options.file else sys.stdin.buffer
            lines = decoded_lines(stream, str(options.file or "stdin"))
            hypotheses = translator.translate(lines, options.n_best, split_sentences=options.split)
            for number, translations in enumerate(hypotheses, start=1):
                sys.stdout.buffer.write(formatted(number, translations, options.n_best).encode())
                sys.stdout.buffer.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ConfigError) else 1
    return 0


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _weight(text: str) -> float:
    try:
        return check_weight(float(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


if __name__ == "__main__":
    sys.exit(main())
