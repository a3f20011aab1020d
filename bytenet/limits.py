"""Limits of what is read from files, and reading within them.

A file may be damaged, too large for the memory, or made to do harm: two megabytes of gzip can hold two gigabytes, and a
few lines of JSON can nest deeper than Python's stack. Every reader stays within these limits and ends in an
`InputError`. No honest file comes near them.

This module needs only the standard library and pydantic. All parts of the package but `bytenet.lite` may import it.
"""

import errno
import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import pydantic

from bytenet.errors import MOST_LINE_CHARS, MOST_SHOWN_CHARS, InputError, MissingFileError, shortened

MOST_CONFIG_BYTES = 64 << 10
"""Largest size of a configuration in bytes, and of one `--set` in characters. A run's whole configuration has 4 kB.
PyYAML needs 5 seconds for this much."""

MOST_JSON_BYTES = 16 << 20
"""Largest size of a JSON file in a run folder, in bytes. The largest, `vocabulary.json` of Chinese, has less than
1 MB."""

MOST_CSV_BYTES = 256 << 20
"""Largest size of a CSV file in a run folder, in bytes. A row has about 150 bytes, so a million steps that are all
measured take 150 MB."""

MOST_ZIP_DIRECTORY_BYTES = 16 << 20
"""Largest size of the list of the members of a zip archive, in bytes. A checkpoint of a thousand layers has less than
4 MB."""

MOST_TEXT_BYTES = 8 << 30
"""Largest size of a text, decompressed, in bytes. It is kept in memory, where it takes up to five times as much."""

MOST_CHARACTERS = 100_000
"""Largest number of characters of an alphabet. Unicode's main block of Chinese characters has 20,992. The softmax needs
a row for each."""

MOST_PARAMETERS = 2_000_000_000
"""Largest number of parameters of a model: 8 GB of weights. The largest published variant has 180 million."""

MOST_EXPANSION = 200
"""Bytes that a compressed byte may become. Text becomes 3 to 20. gzip can reach 1,032 (https://zlib.net/zlib_tech.html)."""

SMALL_BYTES = 64 << 20
"""A compressed file may expand as it likes up to here: a small file of equal lines is no attack."""

BROKEN_ARCHIVE = (
    tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, struct.error, RuntimeError, KeyError,
    ValueError, OverflowError, OSError,
)  # fmt: skip
"""What the standard library's readers raise for an archive or a compressed file that is cut off or damaged."""

# A text in the place of a file is often too long for a name.
_ERRORS_OF_MISSING_FILES = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
_CHUNK_BYTES = 1 << 20
_Valid = TypeVar("_Valid")


@contextmanager
def _explained(path: str | os.PathLike[str], expected: str) -> Iterator[None]:
    """Turn the errors of opening and reading a file into an InputError."""
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        if error.errno in _ERRORS_OF_MISSING_FILES:
            raise MissingFileError(
                f"There is no file {path}; expected {expected}. Check the name and the working folder."
            ) from error
        if isinstance(error, IsADirectoryError):
            raise InputError(f"{path} is a folder; expected {expected}.") from error
        raise InputError(f"{path} cannot be read: {error.strerror}; expected {expected}.") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{path} cannot be read: {error}; expected {expected}.") from error


def read_limited(path: str | os.PathLike[str], most_bytes: int, expected: str) -> bytes:
    """Read a file of at most `most_bytes`.

    Args:
        path: of the file.
        most_bytes: the limit. Nothing beyond it is read.
        expected: what the file should be, for messages, such as "a configuration".

    Raises:
        MissingFileError: there is no such file.
        InputError: it is larger, a folder, or cannot be read.
    """
    with _explained(path, expected), open(path, "rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise InputError(f"{path} is larger than {most_bytes:,} bytes, so it is not {expected}. Check the name.")
    return content


def read_json(path: str | os.PathLike[str], kind: type[_Valid], expected: str) -> _Valid:
    """Read a JSON file of at most `MOST_JSON_BYTES`, and check its content. pydantic limits its depth.

    Args:
        path: of the file.
        kind: what pydantic checks: a dataclass, a TypedDict, `dict[str, int]` or another type.
        expected: what the file should be, for messages.

    Raises:
        MissingFileError: there is no such file.
        InputError: the file is too large, is not JSON, or has other content.
    """
    return parse_json(read_limited(path, MOST_JSON_BYTES, expected), kind, str(path), expected)


def parse_json(content: bytes | str, kind: type[_Valid], where: str, expected: str) -> _Valid:
    """Check JSON and return its content, see `read_json`; `where` is its name in messages.

    Raises:
        InputError: it is not JSON, or has other content.
    """
    try:
        # Python's numbers NaN and Infinity are read, too.
        return pydantic.TypeAdapter(kind).validate_json(content, strict=True)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = shortened(".".join(map(str, first["loc"])), MOST_SHOWN_CHARS)
        problem = f"{place}: {first['msg']}" if place else first["msg"]
    raise InputError(f"{where} is damaged ({shortened(problem, MOST_SHOWN_CHARS)}); expected {expected}.")


class _Readable(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


class LimitedStream(io.RawIOBase):
    """What a compressed stream holds, up to a limit: reading more raises an InputError.

    Args:
        stream: gives the decompressed bytes.
        compressed_bytes: size of the compressed file.
        path: of the file, for messages.
        most_bytes: the limit. Less if `MOST_EXPANSION` times the compressed size is less.
    """

    def __init__(self, stream: _Readable, compressed_bytes: int, path: Path, most_bytes: int = MOST_TEXT_BYTES):
        super().__init__()
        self._stream = stream
        self._path = path
        self._most = min(most_bytes, max(SMALL_BYTES, MOST_EXPANSION * compressed_bytes))
        self._read = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes; all that are left for -1."""
        left = self._most - self._read + 1
        content = self._stream.read(left if size < 0 else min(size, left))
        self._read += len(content)
        if self._read > self._most:
            raise InputError(
                f"{self._path} holds more than {self._most:,} bytes when it is decompressed, more than a text of its "
                "size does or than can be kept in memory. Check the file, or cut it into parts."
            )
        return content


def read_text_bytes(path: Path) -> bytearray:
    """The bytes of a plain or gzip-compressed (`.gz`) file, at most `MOST_TEXT_BYTES`. Reading stops after a NUL.

    Raises:
        MissingFileError: there is no such file.
        InputError: it cannot be read, is too large, has a line that does not end, or is a broken gzip file.
    """
    content, last_line = bytearray(), 0  # bytes of the last line so far
    with _explained(path, "a text file"), open(path, "rb") as file:
        try:
            is_gzip = path.suffix == ".gz"
            # A pipe has no size: only the limit counts.
            size = os.fstat(file.fileno()).st_size if is_gzip else MOST_TEXT_BYTES
            stream = LimitedStream(gzip.GzipFile(fileobj=file) if is_gzip else file, size or MOST_TEXT_BYTES, path)
            while chunk := stream.read(_CHUNK_BYTES):
                content += chunk
                if b"\0" in chunk:  # no text: /dev/zero never ends
                    break
                last_line = len(chunk) - 1 - chunk.rfind(b"\n") + (0 if b"\n" in chunk else last_line)
                if last_line > 4 * MOST_LINE_CHARS:  # a character has at most four bytes
                    raise InputError(
                        f"{path} has a line of more than {MOST_LINE_CHARS:,} characters; expected one sentence per "
                        "line. Only \\n ends a line. Is this text?"
                    )
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"{path} is not a complete gzip file ({error}). Fetch or compress it again.") from error
    return content
