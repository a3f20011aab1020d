"""`bytenet-lite MODEL [FILE]`, also `python -m bytenet.lite`: translate lines without TensorFlow."""

import argparse
import os
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.lite.cards import read_card, summary
from bytenet.lite.lines import decoded_lines, formatted, message_on_limit
from bytenet.lite.native_messages import drop_remarks
from bytenet.lite.pretrained import pretrained_names


def main(arguments: list[str] | None = None) -> int:
    """Translate, or tell about models. Returns the exit code: 0 success; 1 failure; 2 options that the model does not
    allow.

    A message explains each failure. Options that the parser refuses end the process with 2.
    """
    if arguments is None:  # this process is the command
        drop_remarks()
    parser = _parser()
    options = parser.parse_intermixed_args(arguments)  # options may stand between MODEL and FILE
    if sys.stdout is None:
        parser.error("There is no standard output for the translations.")
    try:
        if options.models or options.card is not None:
            if options.model is not None:
                parser.error("--models and --card translate nothing. Leave out MODEL and FILE.")
            _write(_list() if options.models else read_card(options.card).rstrip("\n") + "\n")
        else:
            _translate(parser, options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError) as error:
        _say(f"Error: {error}")
        return 2 if isinstance(error, ConfigError) else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bytenet-lite",
        description="Translate the lines of FILE, or of stdin. Each line gives one line, a blank line a blank line.",
    )
    parser.add_argument(
        "model", metavar="MODEL", type=_path, nargs="?",
        help="a .bytenet file that `bytenet export` wrote, or the name of a pretrained model, such as de-en",
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", type=_path, nargs="?", help="UTF-8 text; - is stdin")
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
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--models", action="store_true",
        help="list the pretrained models, with languages, size, licence and scores, and translate nothing",
    )  # fmt: skip
    instead.add_argument(
        "--card", metavar="MODEL", type=_path,
        help="show the card of this model: what it is, its licence and whom to name; and translate nothing",
    )  # fmt: skip
    return parser


def _translate(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Translate, and say at the end what the model does not know, did not finish, and left empty."""
    if options.model is None:
        parser.error("Give a MODEL. --models lists the pretrained ones.")
    if options.file == Path("-") and not options.file.exists():
        options.file = None
    if options.file is None and sys.stdin is None:
        parser.error("There is no standard input. Give a FILE.")
    if options.split and options.n_best > 1:
        parser.error("--split gives one translation of each line. Leave out --split or --n-best.")
    if options.file and (not options.file.exists() or options.file.is_dir()):
        kind = "is a folder" if options.file.is_dir() else "does not exist"
        raise MissingFileError(f"{options.file} {kind}; expected a text file with one sentence per line.")
    from bytenet.lite.empty_translations import EmptyTranslations
    from bytenet.lite.translator import Translator
    from bytenet.lite.unknown_characters import UnknownCharacters

    translator = Translator(options.model, options.threads, options.rerank_with, options.rerank_weight)
    if options.n_best > translator.beam_size:
        parser.error(f"argument --n-best: at most {translator.beam_size}, the beam size of the model")
    unknown, empty, num_unended = UnknownCharacters(translator.characters.known), EmptyTranslations(), 0
    with ExitStack() as files:
        stream: BinaryIO = files.enter_context(open(options.file, "rb")) if options.file else sys.stdin.buffer
        lines = empty.watch(unknown.watch(decoded_lines(stream, str(options.file or "stdin"))))
        hypotheses = translator.translate(lines, options.n_best, split_sentences=options.split)
        for number, translations in enumerate(hypotheses, start=1):
            _write(formatted(number, translations, options.n_best))
            num_unended += not translations[0].ended
            empty.count(translations)
    refuses = translator.characters.unknown == "error"  # then it refused all that it read
    messages = ["" if refuses else unknown.message, message_on_limit(num_unended), empty.message]
    if any(messages):
        _say(" ".join(filter(None, messages)))


def _list() -> str:
    """The pretrained models, some lines for each. If there are none, a message says so."""
    names = pretrained_names()
    if not names:
        _say("This version has no pretrained model. Use a .bytenet file.")
    return "\n".join(f"{summary(name)}\n" for name in names)


def _write(text: str) -> None:
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def _say(line: str) -> None:
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("it is empty; expected a path")
    return Path(text)


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _weight(text: str) -> float:
    from bytenet.lite.reranking import check_weight

    try:
        return check_weight(float(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


if __name__ == "__main__":
    sys.exit(main())
