"""A folder of shards."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bytenet.datasets.shards.side_file import LengthCounts, ShardPaths, SideFile
from bytenet.errors import InputError, MissingFileError

FOLDER_FORMAT = "bytenet-shards-1"


def index_path(folder: Path) -> Path:
    """The file that is written last, when all shards are complete."""
    return folder / "shards.json"


class ShardFolder:
    """What `shard_corpus` made. The text stays on disk.

    Attributes:
        path: of the folder.
        languages: of source and target.
        shards: side files, one a shard.
    """

    def __init__(self, path: Path, languages: tuple[str, str], shards: list[SideFile]):
        self.path = path
        self.languages = languages
        self.shards = shards

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> "ShardFolder":
        """Read the side files of a folder.

        Raises:
            MissingFileError: there is no such folder, or it is not complete.
            InputError: a file is not what it should be.
        """
        path = Path(folder)
        try:
            content = json.loads(index_path(path).read_text(encoding="utf-8"))
            if content["format"] != FOLDER_FORMAT:
                raise ValueError(f"format {content['format']!r}, expected {FOLDER_FORMAT!r}")
            source, target = map(str, content["languages"])
            number = int(content["shards"])
        except (FileNotFoundError, NotADirectoryError) as error:
            raise MissingFileError(
                f"{path} is not a complete folder of shards: there is no {index_path(path).name} in it. Make one with: "
                "bytenet data shard INPUT... FOLDER"
            ) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(
                f"{index_path(path)} is not the index of a folder of shards ({type(error).__name__}: {error}). Shard "
                "the corpus again."
            ) from error
        return cls(path, (source, target), [SideFile.read(ShardPaths(path, shard)) for shard in range(number)])

    def __len__(self) -> int:
        return sum(shard.pairs for shard in self.shards)

    def check(self) -> None:
        """Compare all files with their checksums. It reads every file once.

        Raises:
            MissingFileError: a file is missing.
            InputError: a file has changed.
        """
        for shard in self.shards:
            shard.check()

    def characters(self) -> Mapping[str, int]:
        """How often each character occurs, on both sides of all pairs; in the order of code points."""
        counts: Counter[str] = Counter()
        for shard in self.shards:
            counts.update(shard.characters)
        return dict(sorted(counts.items()))

    def lengths(self) -> LengthCounts:
        """The lengths of all pairs."""
        parts = [shard.lengths for shard in self.shards]
        keys = np.concatenate([part.source << 16 | part.target for part in parts])
        different, places = np.unique(keys, return_inverse=True)
        pairs = np.bincount(places, np.concatenate([part.pairs for part in parts])).astype(np.int64)
        return LengthCounts(different >> 16, different & 0xFFFF, pairs)

    def fingerprint(self) -> str:
        """A digest (SHA-256, hexadecimal) of all pairs and their order."""
        return hashlib.sha256("".join(shard.sha256 for shard in self.shards).encode()).hexdigest()
