"""The inputs of a sharded corpus, read in blocks of lines: two text files, a Moses zip, tab-separated text.

A line ends at "\\n" and nowhere else. No input is ever in memory as a whole.
"""

import codecs
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from isal import igzip
from isal.igzip_lib import IsalError

from bytenet.datasets.text.reading_faults import reading_fault, unreadable
from bytenet.datasets.text.text_files import (
    EQUAL_LINES,
    LONGEST_SIGN,
    check_beginning,
    warn_of_windows_line_ends,
)
from bytenet.errors import InputError, MissingFileError
from bytenet.limits import BROKEN_ARCHIVE

STANDARD_INPUT = "-"
LINES_IN_BLOCK = 16_384
_READ_BYTES = 1 << 20
_LONGEST_LINE_BYTES = 1 << 24
_TSV_SUFFIXES = (".tsv", ".tsv.gz")


@dataclass(frozen=True)
class LineBlock:
    """Successive lines of both sides of an input, in UTF-8 if the input is what it should be.

    Attributes:
        place: name of the input; of two text files, that of the sources.
        first_line: number of the first line in the input, from 1.
        source, target: lines of the same number belong together.
        incomplete: bool `(lines,)`, whether a line of tab-separated text has only one column. Its target is empty.
    """

    place: str
    first_line: int
    source: list[bytes]
    target: list[bytes]
    incomplete: np.ndarray


def read_inputs(paths: Sequence[str], languages: tuple[str, str]) -> Iterator[LineBlock]:
    """Read the pairs of several inputs, one input after the other.

    Args:
        paths: of the inputs. "-" (standard input), `.tsv` and `.tsv.gz` are lines "source TAB target"; further columns
            are not read. `.zip` is an archive with two text files, which end in `.` and a language, as OPUS publishes
            them (Moses format). All others are text files and come in twos, plain or `.gz`: sources, then targets.
        languages: of source and target, the endings of the files in an archive.

    Raises:
        MissingFileError: a file does not exist.
        InputError: an input cannot be read, or its sides have different numbers of lines.
    """
    return _read_groups(_grouped(paths), languages)  # the paths are checked at once, before anything is read


def _read_groups(groups: Sequence[tuple[str, str | None]], languages: tuple[str, str]) -> Iterator[LineBlock]:
    for source, target in groups:
        if target is not None:
            with _opened(source) as source_file, _opened(target) as target_file:
                yield from _aligned((source, target), source_file, target_file)
        elif source.endswith(".zip"):
            with _members(source, languages) as (source_file, target_file):
                yield from _aligned((source, source), source_file, target_file)
        else:
            with _opened(source) as file:
                yield from _columns(place_of(source), file)


def place_of(path: str) -> str:
    """The name of an input in messages."""
    return "standard input" if path == STANDARD_INPUT else path


def _grouped(paths: Sequence[str]) -> list[tuple[str, str | None]]:
    """Two text files that belong together, or one other input and None; all of them must exist."""
    groups: list[tuple[str, str | None]] = []
    rest = list(paths)
    while rest:
        first = rest.pop(0)
        if _is_alone(first):
            groups.append((first, None))
        elif rest and not _is_alone(rest[0]):
            groups.append((first, rest.pop(0)))
        else:
            raise InputError(
                f"{first} is a text file without its other side. Give two text files, sources and then targets; or one "
                ".zip, one .tsv or .tsv.gz; or - for tab-separated lines on standard input."
            )
    for path in paths:
        if path == STANDARD_INPUT:
            continue
        if not Path(path).exists():
            raise MissingFileError(f"The input {path} does not exist. Check the name.")
        if Path(path).is_dir():
            raise InputError(f"The input {path} is a folder. Give a file.")
    return groups


def _is_alone(path: str) -> bool:
    return path == STANDARD_INPUT or path.endswith((".zip", *_TSV_SUFFIXES))


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    try:
        with open(path, "rb") as file:
            yield cast(BinaryIO, igzip.open(file) if path.endswith(".gz") else file)
    except OSError as error:
        raise unreadable(path, error) from error


@contextmanager
def _members(path: str, languages: tuple[str, str]) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The two text files in an archive."""
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(path))
            sides = []
            for language in languages:
                names = [name for name in archive.namelist() if name.endswith(f".{language}")]
                if len(names) != 1:
                    raise InputError(
                        f"{path} has {len(names)} files that end in .{language}; expected one. It has: "
                        f"{', '.join(archive.namelist()[:10])}. Set --source-language and --target-language, or "
                        "unpack the archive and give two of its files."
                    )
                sides.append(cast(BinaryIO, stack.enter_context(archive.open(names[0]))))
        except InputError:
            raise
        except BROKEN_ARCHIVE as error:  # RuntimeError also for one that is locked, or has an unknown compression
            damage = f"{path} is not a complete zip archive that can be read ({error}). Fetch it again."
            raise reading_fault(path, error, damage) from error
        source, target = sides
        yield source, target


class _Lines:
    """The lines of a stream, without line ends.

    A byte order mark at the start is removed. If the first lines all end in "\\r\\n", the "\\r" at the end of
    every line is removed.
    """

    def __init__(self, place: str, file: BinaryIO):
        self._place = place
        self._file = file
        self._rest = b""  # text that was read but not taken
        self._ended = False
        self._windows = False
        self._begin()

    def take(self, count: int) -> list[bytes]:
        """The next lines: `count` of them, or all that are left."""
        pieces, complete = [self._rest], self._rest.count(b"\n")
        begun = len(self._rest) - self._rest.rfind(b"\n") - 1  # bytes of the line that is not complete
        while complete < count and not self._ended:
            data = self._read()
            complete += data.count(b"\n")
            begun = len(data) - data.rfind(b"\n") - 1 if b"\n" in data else begun + len(data)
            if begun > _LONGEST_LINE_BYTES:
                raise InputError(
                    f"{self._place} has a line of more than {_LONGEST_LINE_BYTES:,} bytes; expected one sentence a "
                    "line. Is it a text file?"
                )
            pieces.append(data)
        *lines, self._rest = b"".join(pieces).split(b"\n", count)
        if len(lines) < count and self._rest:  # a last line without an end
            lines.append(self._rest)
            self._rest = b""
        return [line.removesuffix(b"\r") for line in lines] if self._windows else lines

    def _begin(self) -> None:
        while len(self._rest) < LONGEST_SIGN and b"\n" not in self._rest and not self._ended:
            self._rest += self._read()  # a pipe or an archive may give less than was asked for
        check_beginning(self._rest, self._place)
        self._rest = self._rest.removeprefix(codecs.BOM_UTF8)
        self._windows = 0 < self._rest.count(b"\n") == self._rest.count(b"\r\n")
        if self._windows:
            warn_of_windows_line_ends(self._place)

    def _read(self) -> bytes:
        """The next piece of the stream; empty at its end."""
        try:
            data = self._file.read(_READ_BYTES)
        except (*BROKEN_ARCHIVE, IsalError) as error:  # type: ignore[misc]
            damage = f"{self._place} is not a complete compressed file ({error}). Fetch it again."
            raise reading_fault(self._place, error, damage) from error
        if data is None:  # a standard input that does not block
            raise InputError(f"{self._place} has no data now and does not wait. Put `cat |` before the command.")
        self._ended = not data
        return data


def _aligned(places: tuple[str, str], source_file: BinaryIO, target_file: BinaryIO) -> Iterator[LineBlock]:
    """The blocks of two files, or of two members of an archive."""
    place, other = places
    sides = _Lines(place, source_file), _Lines(other, target_file)
    number = 1
    while True:
        source, target = (side.take(LINES_IN_BLOCK) for side in sides)
        if len(source) != len(target):
            ended = number + min(len(source), len(target)) - 1
            raise InputError(
                f"{' and '.join(dict.fromkeys(places))}: one side ends after {ended:,} lines, but the other goes on; "
                f"{EQUAL_LINES}"
            )
        if not source:
            return
        yield LineBlock(place, number, source, target, np.zeros(len(source), bool))
        number += len(source)


def _columns(place: str, file: BinaryIO) -> Iterator[LineBlock]:
    """The blocks of tab-separated text."""
    lines = _Lines(place, file)
    number = 1
    while block := lines.take(LINES_IN_BLOCK):
        columns = [line.split(b"\t", 2) for line in block]
        incomplete = np.fromiter(map(len, columns), int, len(columns)) < 2
        targets = [cells[1] if len(cells) > 1 else b"" for cells in columns]
        yield LineBlock(place, number, [cells[0] for cells in columns], targets, incomplete)
        number += len(block)
