"""Text files of one sentence per line. No character is changed or lost without a message.

Errors, as these always mean a wrong or broken file: a missing or empty file, bytes that are not UTF-8, a NUL, a broken
gzip stream, a line or a text beyond the limits of `bytenet.limits`, sides with different numbers of lines.

Kept, with a warning: characters at which other programs break a line (U+2028, U+0085, a `\\r` within a line and
others). They do not end a line here, so a corpus that was aligned with them stays aligned. If they are damage, the
warning says where to look. A byte order mark that is not at the start is kept with a warning, too.

Removed, with a warning: a byte order mark at the start, and the `\\r` of a file in which all lines end in `\\r\\n`. If
only some lines end in `\\r\\n`, their `\\r` is kept, with a warning.
"""

import codecs
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.characters import BYTE_ORDER_MARK
from bytenet.errors import MOST_LINE_CHARS, InputError
from bytenet.limits import read_text_bytes

logger = logging.getLogger("bytenet.datasets")

LONGEST_SIGN = 4
"""Bytes at the beginning of a text that `check_beginning` looks at."""

EQUAL_LINES = (
    "expected the same number of lines, as line n of one side translates line n of the other. Look for a file that is "
    "cut short, or for lines that were split or joined on one side (only \\n ends a line; U+2028, U+0085 and \\r do "
    "not)."
)
"""The end of a message about two sides with different numbers of lines."""

_GZIP = b"\x1f\x8b"
_OTHER_COMPRESSIONS = {"xz": (b"\xfd7zX",), "bzip2": tuple(b"BZh%d" % level for level in range(1, 10))}
_SHOWN_LINES = 5
# The characters other than "\n" that end a line for `str.splitlines`.
_LINE_BREAK_LIKE = "\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"


def read_lines(path: str | os.PathLike[str], allow_empty: bool = False) -> list[str]:
    """Read the lines of a plain or gzip-compressed (`.gz`) UTF-8 file, split on "\\n" only.

    A final "\\n" ends the last line and starts no further line. Blanks at the ends of lines are kept.

    Args:
        path: the file.
        allow_empty: return no lines for an empty file instead of raising an error.

    Returns:
        One string a line, without line ends.

    Raises:
        MissingFileError: there is no such file.
        InputError: the path is a folder; or the file is empty, not UTF-8 (the message names file, line and byte), has
            a NUL, is a broken gzip file, or is beyond a limit of `bytenet.limits`.
    """
    path = Path(path)
    return split_lines(read_text_bytes(path), path, allow_empty)


def split_lines(content: bytes | bytearray, where: str | os.PathLike[str], allow_empty: bool = False) -> list[str]:
    """Split the bytes of a text into lines, as `read_lines` does.

    Args:
        content: the bytes.
        where: the name of the text in messages.
        allow_empty: return no lines for an empty text instead of raising an error.

    Raises:
        InputError: the text is empty, not UTF-8, compressed, a zip archive, or has a NUL or a line of more than
            `MOST_LINE_CHARS`.
    """
    check_beginning(content, where)
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise InputError(
            f"{where}:{line}: found a NUL character; expected text. Is this another kind of file, or UTF-16? "
            "Convert it to UTF-8, or remove the NUL characters (tr -d '\\000')."
        )
    text = _decode(content, where).removeprefix(BYTE_ORDER_MARK)
    if not text and not allow_empty:
        raise InputError(f"{where} is empty; expected one sentence per line. Is it the right file, and is it complete?")
    *lines, rest = text.split("\n")
    if lines and all(line.endswith("\r") for line in lines):
        warn_of_windows_line_ends(where)
        lines, rest = [line[:-1] for line in lines], rest.removesuffix("\r")
    if rest:  # a last line without an end
        lines.append(rest)
    _check_lengths(lines, where)
    _warn_of_line_breaks(text, lines, where)
    _warn_of_byte_order_marks(text, lines, where)
    return lines


def check_beginning(content: bytes | bytearray, where: object) -> None:
    """Check that a text may be UTF-8, and warn of a byte order mark, which the caller removes.

    Args:
        content: at least the first `LONGEST_SIGN` bytes of the text, or all of a shorter one.
        where: the name of the text in messages.

    Raises:
        InputError: the text is UTF-16, compressed, or a zip archive.
    """
    if content.startswith(_GZIP):
        raise InputError(
            f"{where} is compressed with gzip; expected text. Decompress it (gzip -d), or give the file a name that "
            "ends in .gz."
        )
    for name, signs in _OTHER_COMPRESSIONS.items():
        if content.startswith(signs):
            raise InputError(f"{where} is compressed with {name}; expected text or .gz. Decompress it first.")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{where} is UTF-16; expected UTF-8. Convert it: iconv -f UTF-16 -t UTF-8.")
    if content.startswith(b"PK\x03\x04"):
        raise InputError(
            f"{where} is a zip archive, as .xlsx and .docx files are; expected text. Unpack it, or save the document "
            "as plain text in UTF-8."
        )
    if content.startswith(codecs.BOM_UTF8):
        logger.warning("%s starts with a byte order mark. It was removed.", where)


def warn_of_windows_line_ends(where: object) -> None:
    """Warn of a text whose lines end in "\\r\\n". The caller removes the "\\r"."""
    logger.warning("%s has Windows line ends. The \\r at the ends of lines was removed.", where)


def read_parallel(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> Pairs:
    """Read two files in which lines of the same number are translations of each other.

    Raises:
        MissingFileError: a file is missing.
        InputError: `read_lines` cannot read a file, or the numbers of lines differ.
    """
    source_lines, target_lines = read_lines(source), read_lines(target)
    if len(source_lines) != len(target_lines):
        raise InputError(
            f"{source} has {len(source_lines)} lines but {target} has {len(target_lines)}; {EQUAL_LINES}"
            f"{_hint_at_columns(source, source_lines)}{_hint_at_columns(target, target_lines)}"
        )
    return Pairs(source_lines, target_lines)


def _hint_at_columns(path: str | os.PathLike[str], lines: list[str]) -> str:
    if not all("\t" in line for line in lines):
        return ""
    return f" Every line of {path} has a TAB: `cut -f1` and `cut -f2` make two files of two columns."


def _decode(content: bytes | bytearray, where: str | os.PathLike[str]) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte_in_line = error.start - content.rfind(b"\n", 0, error.start)
        raise InputError(
            f"{where}:{line}: byte {byte_in_line} of the line (byte {error.start + 1} of the file) is "
            f"0x{content[error.start]:02x}, which is not valid UTF-8 there. Convert the file, for example "
            f"with iconv -f ISO-8859-1 -t UTF-8, or correct the line."
        ) from error


def _check_lengths(lines: list[str], where: str | os.PathLike[str]) -> None:
    for number, line in enumerate(lines, start=1):
        if len(line) > MOST_LINE_CHARS:
            raise InputError(
                f"{where}:{number}: the line has {len(line):,} characters; expected a sentence, at most "
                f"{MOST_LINE_CHARS:,}. Only \\n ends a line. Is this text, with one sentence per line?"
            )


def _warn_of_line_breaks(text: str, lines: list[str], where: str | os.PathLike[str]) -> None:
    if "\n" not in text and "\r" in text[:-1]:
        logger.warning(
            "%s has %d \\r but no \\n, so it is one line. If \\r ends its lines, convert the file, for example with "
            "tr '\\r' '\\n'.",
            where, text.count("\r"),
        )  # fmt: skip
    elif "\r" in text and (numbers := [number for number, line in enumerate(lines, start=1) if line.endswith("\r")]):
        logger.warning(
            "%s: %d of %d lines have Windows line ends (%s). Their \\r was kept as a character. Remove it, for example "
            "with sed 's/\\r$//'.",
            where, len(numbers), len(lines), _shown(numbers),
        )  # fmt: skip
    for character in _LINE_BREAK_LIKE:
        if character not in text:  # much faster than to look line by line
            continue
        numbers = [number for number, line in enumerate(lines, start=1) if character in line.removesuffix("\r")]
        if not numbers:
            continue
        logger.warning(
            "%s: U+%04X, at which some programs break a line, is within %d line(s) (%s). It was kept as a "
            "character. If the lines of two files do not match, look there first.",
            where, ord(character), len(numbers), _shown(numbers),
        )  # fmt: skip


def _warn_of_byte_order_marks(text: str, lines: list[str], where: str | os.PathLike[str]) -> None:
    if BYTE_ORDER_MARK in text:
        numbers = [number for number, line in enumerate(lines, start=1) if BYTE_ORDER_MARK in line]
        logger.warning(
            "%s: a byte order mark, U+FEFF, is within %d line(s) (%s). It was kept as a character. Remove it, for "
            "example with sed 's/\\xef\\xbb\\xbf//g'.",
            where, len(numbers), _shown(numbers),
        )  # fmt: skip


def _shown(numbers: Sequence[int]) -> str:
    """The first few numbers of lines, and how many more there are."""
    more = f" and {len(numbers) - _SHOWN_LINES} more" if len(numbers) > _SHOWN_LINES else ""
    return ", ".join(map(str, numbers[:_SHOWN_LINES])) + more
