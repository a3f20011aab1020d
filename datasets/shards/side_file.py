"""The files of a shard, and what its side file says: enough for the vocabulary, the buckets and the plan."""

import gzip
import hashlib
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, get_args

import numpy as np
from pydantic import Field, with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.errors import InputError, MissingFileError
from bytenet.limits import LimitedStream, parse_json, read_limited
from bytenet.saved.array_file import ArrayDescription, read_array

_SideFormat = Literal["bytenet-shard-1"]
(SIDE_FORMAT,) = get_args(_SideFormat)

SHARD_FILE = re.compile(r"shard-\d{5}\.(tfrecord\.gz|lengths\.npy|json)")
"""The names in `ShardPaths`."""

# Largest size of a side file, in bytes. Ten million pairs that all have different lengths need 150 MB.
_MOST_BYTES = 256 << 20

# Bytes of a record beside its texts: the newline between the two texts, and TFRecord's length and two checksums.
_BYTES_BESIDE_TEXT = 1 + 8 + 4 + 4

_CHUNK_BYTES = 1 << 20

_Length = Annotated[int, Field(ge=0, lt=2**16)]
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Character = Annotated[str, Field(min_length=1, max_length=1)]


@with_config(extra="forbid")
class _SavedLengths(TypedDict):
    source: list[_Length]
    target: list[_Length]
    pairs: list[_Count]


@with_config(extra="forbid")
class _SavedSide(TypedDict):
    format: _SideFormat
    pairs: _Count
    bytes: NotRequired[_Count]  # size of the records' file, which older versions saved
    sha256: str
    lengths_sha256: str
    lengths: _SavedLengths
    characters: dict[_Character, _Count]


@dataclass(frozen=True)
class ShardPaths:
    """Where the files of a shard are.

    Attributes:
        folder: of all shards.
        shard: number of this one.
    """

    folder: Path
    shard: int

    @property
    def records(self) -> Path:
        """The pairs: a TFRecord file, compressed with gzip. A record is "source\\ntarget" in UTF-8."""
        return self.folder / f"shard-{self.shard:05d}.tfrecord.gz"

    @property
    def lengths(self) -> Path:
        """uint16 `(pairs, 2)`: characters of source and target of each record."""
        return self.folder / f"shard-{self.shard:05d}.lengths.npy"

    @property
    def side(self) -> Path:
        """The side file, JSON."""
        return self.folder / f"shard-{self.shard:05d}.json"


@dataclass(frozen=True, eq=False)
class LengthCounts:
    """How many pairs have which lengths, in characters without the end symbol.

    Attributes:
        source, target: int64 `(n,)`, the different pairs of lengths.
        pairs: int64 `(n,)`, how many pairs have them.
    """

    source: np.ndarray
    target: np.ndarray
    pairs: np.ndarray

    @classmethod
    def of(cls, source: np.ndarray, target: np.ndarray, pairs: np.ndarray | None = None) -> "LengthCounts":
        """Count pairs by their lengths.

        Args:
            source, target: int `(m,)`, lengths below 2^16.
            pairs: int `(m,)`, how many pairs have them; None means one each.
        """
        keys, places = np.unique(source.astype(np.int64) << 16 | target, return_inverse=True)
        return cls(keys >> 16, keys & 0xFFFF, np.bincount(places, pairs).astype(np.int64))


@dataclass(frozen=True, eq=False)
class SideFile:
    """What is known of a shard without reading its text.

    Attributes:
        paths: of its files.
        pairs: number of pairs.
        sha256, lengths_sha256: checksums of the records' file and of the lengths' file, hexadecimal.
        lengths: of the pairs.
        characters: how often each character occurs, on both sides.
    """

    paths: ShardPaths
    pairs: int
    sha256: str
    lengths_sha256: str
    lengths: LengthCounts
    characters: dict[str, int]

    @classmethod
    def read(cls, paths: ShardPaths) -> "SideFile":
        """Read what `ShardFiles` wrote.

        Raises:
            MissingFileError: there is no such file.
            InputError: it is something else.
        """
        what = "a side file of a shard"
        content = read_saved(paths.side, _SavedSide, what)
        del content["format"]
        content.pop("bytes", None)
        counts = {name: np.array(values, np.int64) for name, values in content.pop("lengths").items()}
        side = cls(paths, lengths=LengthCounts(**counts), **content)
        if len(set(map(len, counts.values()))) != 1 or side.lengths.pairs.sum() != side.pairs:
            raise InputError(f"{paths.side} is not {what}: the numbers of pairs differ. Shard the corpus again.")
        return side

    def check(self) -> None:
        """Check the files of the shard.

        The files must have their checksums. The lengths must be as counted. The decompressed pairs must have the size
        that the counts of characters give, so a shard has no more text than its lengths say. The text is not kept.

        Raises:
            MissingFileError: a file is missing.
            InputError: a file has changed, or the counts are wrong.
        """
        for path, expected in ((self.paths.records, self.sha256), (self.paths.lengths, self.lengths_sha256)):
            try:
                with open(path, "rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except FileNotFoundError as error:
                raise _missing(path) from error
            if digest != expected:
                raise InputError(
                    f"{path} has the checksum {digest[:12]}..., but {self.paths.side.name} expects {expected[:12]}.... "
                    "The file is damaged or belongs to other shards. Copy it again, or shard the corpus again."
                )

        self.pair_lengths()
        self._check_size()

    def _check_size(self) -> None:
        """Compare the size of the decompressed pairs with the counts of characters, and those with the lengths."""
        path = self.paths.records
        counts = zip(*(getattr(self.lengths, name).tolist() for name in ("source", "target", "pairs")), strict=True)
        if sum(self.characters.values()) != sum((source + target) * pairs for source, target, pairs in counts):
            raise InputError(f"{self.paths.side} counts other characters than lengths. Shard the corpus again.")
        expected = self.pairs * _BYTES_BESIDE_TEXT
        expected += sum(count * len(character.encode()) for character, count in self.characters.items())
        size = 0
        try:
            with gzip.open(path) as file:
                stream = LimitedStream(file, path.stat().st_size, path)
                while size <= expected and (chunk := stream.read(_CHUNK_BYTES)):
                    size += len(chunk)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"{path} is not a complete gzip file ({error}). Shard the corpus again.") from error
        if size != expected:
            raise InputError(
                f"{path} has {'more' if size > expected else 'fewer'} than the {expected:,} bytes of pairs that "
                f"{self.paths.side.name} counts. Shard the corpus again."
            )

    def pair_lengths(self) -> np.ndarray:
        """Read the lengths of the pairs, int64 `(pairs, 2)`: source and target, without the end symbol.

        Raises:
            MissingFileError: the file is missing.
            InputError: it is something else, or has other lengths than the side file counts.
        """
        path = self.paths.lengths
        expected = ArrayDescription((self.pairs, 2), np.dtype(np.uint16))
        try:
            lengths = read_array(path, expected).astype(np.int64)
        except FileNotFoundError as error:
            raise _missing(path) from error
        except InputError as error:
            raise InputError(f"{path} has no lengths of pairs: {error}. Shard the corpus again.") from error
        counted = LengthCounts.of(*lengths.T)
        if not all(
            np.array_equal(getattr(counted, name), getattr(self.lengths, name))
            for name in ("source", "target", "pairs")
        ):
            raise InputError(f"{self.paths.side} counts other lengths than {path.name} has. Shard the corpus again.")
        return lengths


def _missing(path: Path) -> MissingFileError:
    return MissingFileError(f"{path} is missing. Copy it again, or shard the corpus again.")


def read_saved(path: Path, kind: Any, what: str) -> Any:
    """Read a JSON file in a folder of shards.

    Args:
        path: of the file.
        kind: of its content, see `bytenet.limits.read_json`.
        what: it should be, for messages.

    Raises:
        MissingFileError: there is no such file.
        InputError: it is something else.
    """
    try:
        content = read_limited(path, _MOST_BYTES, what)
    except MissingFileError as error:
        raise MissingFileError(f"{path} is missing. Shard the corpus again.") from error
    try:
        return parse_json(content, kind, "its content", "what `bytenet data shard` wrote")
    except InputError as error:
        raise InputError(f"{path} is not {what}: {error} Shard the corpus again.") from error
