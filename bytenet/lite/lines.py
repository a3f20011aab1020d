"""Reads lines of text from a stream, and formats and counts lines of translations, for the commands."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import BinaryIO

from bytenet.errors import MOST_LINE_CHARS, InputError
from bytenet.lite.translation import Translation

# A character has at most four bytes; the end of the line has two.
_MOST_LINE_BYTES = 4 * MOST_LINE_CHARS + 2
_GZIP = b"\x1f\x8b"


def decoded_lines(stream: BinaryIO, name: str = "stdin") -> Iterator[str]:
    """Read lines of a UTF-8 stream one by one, without "\\n" or "\\r\\n", and without a byte order mark at the start.

    "\\r" is removed from each line that ends with it, because the later lines of a stream are not known yet.
    `bytenet.datasets.read_lines` removes it only if all lines of a file end with it.

    Raises:
        InputError: the stream is compressed with gzip; or a line is not UTF-8, has a NUL, or is longer than
            `MOST_LINE_CHARS`. `name` is the stream's name in the message.
    """
    # A line without an end is not read as a whole.
    read_line = partial(stream.readline, _MOST_LINE_BYTES + 1)
    for number, line in enumerate(iter(read_line, b""), start=1):
        if number == 1 and line.startswith(_GZIP):
            raise InputError(f"{name} is compressed with gzip; expected text. Decompress it first, with gzip -d.")
        if b"\0" in line:
            raise InputError(f"{name}:{number}: found a NUL character; expected text. Convert it to UTF-8 first.")
        if len(line) > _MOST_LINE_BYTES:
            raise _too_long(name, number)
        try:
            text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}:{number}: byte {error.start + 1} of the line is 0x{line[error.start]:02x}; expected UTF-8. "
                "Convert the text first, for example with iconv -f ISO-8859-1 -t UTF-8."
            ) from error
        if len(text) > MOST_LINE_CHARS:
            raise _too_long(name, number)
        yield text.removeprefix("\ufeff") if number == 1 else text


def _too_long(name: str, number: int) -> InputError:
    return InputError(
        f"{name}:{number}: the line has more than {MOST_LINE_CHARS:,} characters; expected a sentence. Only \\n ends a "
        "line. Is this text, with one sentence per line?"
    )


def formatted(number: int, translations: Sequence[Translation], n_best: int) -> str:
    """The output for line `number`: the translation; with `n_best` above 1, lines of number, score and translation."""
    if n_best == 1:
        return f"{translations[0].text}\n"
    return "".join(f"{number}\t{hypothesis.score:.4f}\t{hypothesis.text}\n" for hypothesis in translations)


def message_on_limit(number: int) -> str:
    """A sentence about translations that the length limit cut off; empty if there are none."""
    if not number:
        return ""
    return f"{number:,} translation{'s' * (number > 1)} reached the length limit without an end."


def lines_in_words(number: int) -> str:
    """A number of lines, as "1 line" or "1,234 lines"."""
    return "1 line" if number == 1 else f"{number:,} lines"


def checked_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines one by one.

    Raises:
        TypeError: `lines` is one text, so each of its characters would be a line; or a line is not a `str`.
    """
    if isinstance(lines, str):
        raise TypeError("lines is one text; expected a list of texts.")
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str):
            raise TypeError(f"Line {number:,} is of type {type(line).__name__}; expected str.")
        yield line
