"""What the registry knows of a corpus."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from bytenet.datasets.parallel import Corpus


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded.

    Attributes:
        path: where it is looked for under `BYTENET_DATA` and kept in the cache, `corpus/name`.
        url: where it comes from.
        checksum: `sha256:...` or `md5:...`; None where the publisher changes the file now and then.
        size_bytes: its size; None where that changes or is not known.
    """

    path: str
    url: str
    checksum: str | None = None
    size_bytes: int | None = None


@dataclass(frozen=True)
class CorpusEntry:
    """One corpus of the registry.

    Attributes:
        name: what `data.corpus` calls it.
        description: one line.
        licence: what its publisher says of its use.
        homepage: where it is described.
        languages: codes it has, in any direction; empty for any.
        pairs: number of pairs of each split, as published; empty where the user's settings decide.
        files: gives what a download fetches.
        read: makes the `Corpus` a `DataConfig` asks for, lengths not yet limited.
        settings: years, sizes and seeds of a `DataConfig` that it goes by.
    """

    name: str
    description: str
    licence: str
    homepage: str
    languages: tuple[str, ...]
    pairs: dict[str, int]
    files: Callable[[], tuple[RemoteFile, ...]]
    read: Callable[[Any], Corpus]
    settings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What is known, as plain dictionaries, lists, numbers and strings."""
        return {
            "name": self.name,
            "description": self.description,
            "licence": self.licence,
            "homepage": self.homepage,
            "languages": list(self.languages),
            "pairs": self.pairs,
            "files": [asdict(file) for file in self.files()],
        }
