"""What the registry knows about a corpus."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bytenet.datasets.parallel import Corpus

if TYPE_CHECKING:
    from bytenet.config import DataConfig


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded.

    Attributes:
        path: its path `corpus/name`, under `BYTENET_DATA` and in the cache.
        url: its address.
        checksum: `sha256:...` or `md5:...`; None if the publisher changes the file now and then.
        size_bytes: its size; None if it changes or is not known.
    """

    path: str
    url: str
    checksum: str | None = None
    size_bytes: int | None = None


USERS_CORPORA = ("files", "shards")
"""The names of the corpora that are the user's own text."""


@dataclass(frozen=True)
class CorpusEntry:
    """One corpus of the registry.

    Attributes:
        name: its name in `data.corpus`.
        description: one line.
        licence: what its publisher says about its use.
        homepage: address of its description.
        languages: codes of its languages, in any direction; empty means any language.
        pairs: number of pairs of each split, as published; empty if the user's settings decide.
        files: returns the files that a download fetches.
        read: reads the `Corpus` that a `DataConfig` describes, with pairs of any length.
        settings: the years of a `DataConfig`, and the sizes and seeds of its splits, that the corpus uses.
        languages_note: its languages in words, if `languages` is empty but not every language is possible.
    """

    name: str
    description: str
    licence: str
    homepage: str
    languages: tuple[str, ...]
    pairs: dict[str, int]
    files: Callable[[], tuple[RemoteFile, ...]]
    read: Callable[["DataConfig"], Corpus]
    settings: tuple[str, ...] = ()
    languages_note: str = ""

    @property
    def languages_in_words(self) -> str:
        """Its languages, for a reader."""
        return self.languages_note or ", ".join(self.languages) or "any"

    def to_dict(self) -> dict[str, Any]:
        """The entry as dictionaries, lists, numbers and strings."""
        return {
            "name": self.name,
            "description": self.description,
            "licence": self.licence,
            "homepage": self.homepage,
            "languages": list(self.languages),
            "pairs": self.pairs,
            "files": [asdict(file) for file in self.files()],
        }
