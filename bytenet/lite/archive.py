"""The file of a model, `.bytenet`: a zip archive that is checked before anything in it is read.

It has `manifest.json`, with the size and SHA-256 of every other entry; `settings.json`; `vocabulary.json`; `card.md`,
a text for people; and one or both of `weights.safetensors` for TensorFlow and `model.tflite` for LiteRT. With both,
`copies.json` may say which weights of the latter are copies, see `bytenet.lite.shared_weights`. Nothing in the archive
is code, and nothing is compressed. So no entry can be larger than the file; only the copies can make the LiteRT model
larger than its entry, within a limit.
"""

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bytenet.errors import InputError, MissingFileError

SUFFIX = ".bytenet"
SETTINGS, VOCABULARY, CARD = "settings.json", "vocabulary.json", "card.md"
WEIGHTS, LITE_MODEL, COPIES = "weights.safetensors", "model.tflite", "copies.json"

MOST_BYTES = 2**30
"""Largest size of a file, and of the whole LiteRT model that it holds, in bytes."""

LARGEST_NUMBER = 2**16
"""Largest value of a setting of the model. With a larger one, a damaged file could ask for too much memory."""

_FORMAT, _FORMAT_WITH_COPIES = "bytenet-model-1", "bytenet-model-2"
_FORMATS = (_FORMAT, _FORMAT_WITH_COPIES)
_MANIFEST = "manifest.json"
_NAME = re.compile(r"[a-z0-9_-]{1,40}\.[a-z0-9]{1,20}")
_MOST_ENTRIES = 16
_MOST_BYTES_OF_DIRECTORY = 2**17
_MOST_BYTES_OF_MANIFEST = 2**16
_MOST_BYTES_OF_TEXT = 2**24
_TIME = (1980, 1, 1, 0, 0, 0)  # so that equal models are equal files


@contextmanager
def open_zip(path: str | os.PathLike[str], most_bytes: int) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive whose directory is not too large. (`zipfile` reads the whole directory at once.)

    Args:
        path: of the archive.
        most_bytes: largest size of the directory.

    Raises:
        ValueError: the directory is larger.
        zipfile.BadZipFile: it is no zip archive. Other errors are possible, too.
    """
    with _DirectoryReader(path, most_bytes) as file, zipfile.ZipFile(file) as archive:
        file.most_bytes = None
        yield archive


class _DirectoryReader(io.FileIO):
    """A file of which at most `most_bytes` are read at once, until `most_bytes` is None."""

    def __init__(self, path: str | os.PathLike[str], most_bytes: int):
        super().__init__(path)
        self.most_bytes: int | None = most_bytes

    def read(self, size: int | None = -1) -> bytes:
        if self.most_bytes is not None and size is not None and size > self.most_bytes:
            raise ValueError(f"the directory of the archive has {size:,} bytes; at most {self.most_bytes:,} are read")
        return super().read(size)


class Archive:
    """An opened `.bytenet` file.

    Args:
        path: of the file.

    Raises:
        MissingFileError: there is no such file.
        InputError: it is something else, damaged, too large, of a newer format, or may not be read.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        if not self.path.is_file():
            kind = "is a folder" if self.path.is_dir() else "does not exist"
            raise MissingFileError(f"{self.path} {kind}; expected a model file, which `bytenet export` writes.")
        self._sizes = self._checked_sizes()
        self._entries = self._checked_manifest()

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """The content of an entry, whose size and checksum are right.

        Raises:
            InputError: there is no such entry, or it is damaged.
        """
        if name not in self._entries:
            raise InputError(f"{self.path} has no {name}. Export the model again.")
        content = self._content(name)
        if hashlib.sha256(content).hexdigest() != self._entries[name]:
            raise self._error(f"{name} has another checksum than {_MANIFEST} says")
        return content

    def read_small(self, name: str) -> bytes:
        """The content of an entry of limited size, as `read`.

        Raises:
            InputError: there is no such entry, it is too large, or it is damaged.
        """
        if self._sizes.get(name, 0) > _MOST_BYTES_OF_TEXT:
            raise self._error(f"{name} has {self._sizes[name]:,} bytes; at most {_MOST_BYTES_OF_TEXT:,} are read")
        return self.read(name)

    def read_json(self, name: str) -> dict[str, Any]:
        """The content of a JSON entry, an object.

        Raises:
            InputError: as for `read_small`, or the entry is something else.
        """
        return self._parsed(name, self.read_small(name))

    def _checked_sizes(self) -> dict[str, int]:
        """The size of each entry, in bytes. The archive has nothing but plain, uncompressed entries."""
        size = self.path.stat().st_size
        if size > MOST_BYTES:
            raise self._error(f"it has {size:,} bytes; at most {MOST_BYTES:,} are read")
        try:
            with open_zip(self.path, _MOST_BYTES_OF_DIRECTORY) as archive:
                entries = archive.infolist()
        except Exception as error:  # for a damaged directory BadZipFile, ValueError, struct.error, OverflowError, ...
            raise self._failure("it is not a whole zip archive", error) from error
        sizes = {entry.filename: entry.file_size for entry in entries}
        if len(entries) > _MOST_ENTRIES or len(sizes) < len(entries) or not all(map(_NAME.fullmatch, sizes)):
            raise self._error("its entries are not those of a model")
        for entry in entries:
            if (
                entry.compress_type != zipfile.ZIP_STORED
                or entry.flag_bits & 1
                or entry.compress_size != entry.file_size
            ):
                raise self._error(f"{entry.filename} is compressed or encrypted")
        if sum(sizes.values()) > size:
            raise self._error("its entries are larger than the file")
        return sizes

    def _checked_manifest(self) -> dict[str, str]:
        """The SHA-256 of each entry, hexadecimal."""
        if not 0 < self._sizes.get(_MANIFEST, 0) <= _MOST_BYTES_OF_MANIFEST:
            raise self._error(f"it has no {_MANIFEST} of reasonable size")
        manifest = self._parsed(_MANIFEST, self._content(_MANIFEST))
        form: Any = manifest.get("format")
        entries: Any = manifest.get("entries")
        if isinstance(form, str) and form.startswith("bytenet-model-") and form not in _FORMATS:
            raise InputError(
                f"{self.path} has the format {form!r}; this version reads {' and '.join(map(repr, _FORMATS))}. Install "
                "the version of bytenet that wrote it, or export the model again."
            )
        expected = {name: size for name, size in self._sizes.items() if name != _MANIFEST}
        try:
            sizes = {name: entry["bytes"] for name, entry in entries.items()}
            checksums = {name: entry["sha256"] for name, entry in entries.items()}
        except (AttributeError, KeyError, TypeError):
            sizes, checksums = {}, {}
        has_copies = form == _FORMAT_WITH_COPIES
        if form not in _FORMATS or sizes != expected or has_copies != (COPIES in expected):
            raise self._error(f"{_MANIFEST} does not describe its entries")
        return checksums

    def _content(self, name: str) -> bytes:
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(name) as entry:
                content = entry.read(self._sizes[name] + 1)
        except Exception as error:  # as for the directory
            raise self._failure(f"{name} cannot be read", error) from error
        if len(content) != self._sizes[name]:
            raise self._error(f"{name} has {len(content):,} bytes and not {self._sizes[name]:,}")
        return content

    def _parsed(self, name: str, content: bytes) -> dict[str, Any]:
        try:
            parsed = json.loads(content.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise self._error(f"{name} is not JSON ({error})") from error
        if not isinstance(parsed, dict):
            raise self._error(f"{name} is not a JSON object")
        return parsed

    def _failure(self, reason: str, error: Exception) -> InputError:
        if isinstance(error, PermissionError):
            return InputError(f"{self.path} cannot be read: {error.strerror}. Change its permissions.")
        return self._error(f"{reason} ({error})")

    def _error(self, reason: str) -> InputError:
        return InputError(
            f"{self.path} is not a model file, or is damaged: {reason}. Copy it again, or export it again."
        )


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether a path names a `.bytenet` file. It need not exist."""
    return Path(path).suffix == SUFFIX


def packed(entries: Mapping[str, bytes]) -> bytes:
    """The content of a `.bytenet` file with these entries. The same entries give the same bytes."""
    manifest = {
        "format": _FORMAT_WITH_COPIES if COPIES in entries else _FORMAT,
        "entries": {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in entries.items()
        },
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {_MANIFEST: json.dumps(manifest, indent=1).encode(), **entries}.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content)
    return stream.getvalue()
