"""The files of one shard, written piece by piece."""

import hashlib
import json
import zlib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bytenet.datasets.shards.sharding.tf_record import framed
from bytenet.datasets.shards.side_file import SIDE_FORMAT, LengthCounts, ShardPaths
from bytenet.datasets.text.characters import code_points
from bytenet.files import write_text_atomic

# ISA-L is four times as fast, but it once wrote other bytes for the same pairs; the processes that write are not the
# slow part. zlib's level 4 takes a fifth more time than level 1, and its files are 12 % smaller.
_COMPRESSION_LEVEL = 1
_GZIP_FORMAT = 16 + zlib.MAX_WBITS


@dataclass(frozen=True)
class ShardPairs:
    """Pairs for one shard.

    Attributes:
        shard: its number.
        records: "source\\ntarget" in UTF-8 and NFC.
        lengths: uint16 `(pairs, 2)`, characters of both sides.
    """

    shard: int
    records: list[bytes]
    lengths: np.ndarray


class ShardFiles:
    """Writes the records of a shard, the lengths of its pairs, and at the end its side file.

    Args:
        folder: of the shards.
        shard: number of this one.
    """

    def __init__(self, folder: Path, shard: int):
        self._paths = ShardPaths(folder, shard)
        self._records = open(self._paths.records, "wb")  # noqa: SIM115
        # The lengths are kept in a file, as all of them would take memory in proportion to the corpus.
        self._lengths = open(self._paths.lengths, "wb")  # noqa: SIM115
        self._compressor = zlib.compressobj(_COMPRESSION_LEVEL, wbits=_GZIP_FORMAT)
        self._digest = hashlib.sha256()
        self._characters: Counter[str] = Counter()

    def add(self, pairs: ShardPairs) -> None:
        """Write further pairs."""
        self._write(self._compressor.compress(framed(pairs.records)))
        self._lengths.write(pairs.lengths.tobytes())
        counts = np.bincount(code_points(b"\n".join(pairs.records).decode()))
        for point in np.flatnonzero(counts).tolist():
            self._characters[chr(point)] += int(counts[point])

    def close(self) -> int:
        """Complete the files. Returns the number of pairs."""
        self._write(self._compressor.flush())
        for file in (self._records, self._lengths):
            file.close()
        raw = self._paths.lengths.read_bytes()
        lengths = np.frombuffer(raw, np.uint16).reshape(-1, 2)
        np.save(self._paths.lengths, lengths)
        counts = LengthCounts.of(*lengths.T)
        del self._characters["\n"]  # between the records and between their sides
        content = {
            "format": SIDE_FORMAT,
            "pairs": len(lengths),
            "sha256": self._digest.hexdigest(),
            "lengths_sha256": hashlib.sha256(self._paths.lengths.read_bytes()).hexdigest(),
            "lengths": {name: getattr(counts, name).tolist() for name in ("source", "target", "pairs")},
            "characters": dict(sorted(self._characters.items())),
        }
        write_text_atomic(self._paths.side, json.dumps(content, ensure_ascii=False))
        return len(lengths)

    def release(self) -> None:
        """Close the files as they are; what is not yet on the disk may be lost. Does nothing after `close`."""
        for file in (self._records, self._lengths):
            with suppress(OSError):  # the disk may be full
                file.close()

    def _write(self, compressed: bytes) -> None:
        self._records.write(compressed)
        self._digest.update(compressed)
