"""A folder of shards."""

import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.datasets.shards.side_file import LengthCounts, ShardPaths, SideFile, read_saved
from bytenet.errors import MissingFileError

_FolderFormat = Literal["bytenet-shards-1"]
(FOLDER_FORMAT,) = get_args(_FolderFormat)


class _SavedIndex(TypedDict):
    """What is read of `shards.json`."""

    format: _FolderFormat
    languages: tuple[str, str]
    shards: Annotated[int, Field(ge=1)]


def index_path(folder: Path) -> Path:
    """The file that is written last, when all shards are complete."""
    return folder / "shards.json"


class ShardFolder:
    """What `shard_corpus` made. The text stays on disk.

    Attributes:
        path: of the folder.
        languages: of source and target.
    """

    def __init__(self, path: Path, languages: tuple[str, str], number: int):
        self.path = path
        self.languages = languages
        self._number = number

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> "ShardFolder":
        """Read the index of a folder.

        Raises:
            MissingFileError: there is no such folder, or it is not complete.
            InputError: the index is not what it should be.
        """
        path = Path(folder)
        index = index_path(path)
        if not index.exists():
            raise MissingFileError(
                f"{path} is not a complete folder of shards: there is no {index.name} in it. Make one with: "
                "bytenet data shard INPUT... FOLDER"
            )
        content = read_saved(index, _SavedIndex, "the index of a folder of shards")
        return cls(path, content["languages"], content["shards"])

    @cached_property
    def shards(self) -> list[SideFile]:
        """The side files, one a shard. They are read when they are first used.

        Raises:
            MissingFileError: a file is missing.
            InputError: a file is not what it should be.
        """
        return [SideFile.read(ShardPaths(self.path, shard)) for shard in range(self._number)]

    def __len__(self) -> int:
        return sum(shard.pairs for shard in self.shards)

    def check(self) -> None:
        """Check all shards, see `SideFile.check`. It reads every file.

        Raises:
            MissingFileError: a file is missing.
            InputError: a file has changed, or the counts in a side file are wrong.
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
        return LengthCounts.of(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("source", "target", "pairs"))
        )

    def fingerprint(self) -> str:
        """A digest (SHA-256, hexadecimal) of all pairs and their order."""
        return hashlib.sha256("".join(shard.sha256 for shard in self.shards).encode()).hexdigest()
