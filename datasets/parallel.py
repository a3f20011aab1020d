"""Sentence pairs, and a corpus of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from bytenet.errors import InputError


@dataclass(frozen=True)
class Pairs:
    """Sentences and their translations: `source[i]` and `target[i]` belong together.

    Raises:
        InputError: when there are not as many targets as sources.
    """

    source: list[str]
    target: list[str]

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise InputError(f"{len(self.source)} sources but {len(self.target)} targets; expected as many.")

    def __len__(self) -> int:
        return len(self.source)

    def take(self, indices: Iterable[int]) -> "Pairs":
        """The pairs at `indices`, in that order."""
        indices = list(indices)
        return Pairs([self.source[i] for i in indices], [self.target[i] for i in indices])

    def reversed(self) -> "Pairs":
        """The same pairs for the other direction."""
        return Pairs(self.target, self.source)


@dataclass(frozen=True)
class Corpus:
    """Training, validation and test pairs of one direction of translation.

    `monolingual_source` and `monolingual_target` are sentences without translations, where some were given.
    """

    name: str
    train: Pairs
    validation: Pairs | None
    test: Pairs | None
    source_language: str
    target_language: str
    monolingual_source: list[str] | None = None
    monolingual_target: list[str] | None = None

    def reversed(self) -> "Corpus":
        """The same corpus for the other direction."""
        return Corpus(
            self.name,
            train=self.train.reversed(),
            validation=self.validation and self.validation.reversed(),
            test=self.test and self.test.reversed(),
            source_language=self.target_language,
            target_language=self.source_language,
            monolingual_source=self.monolingual_target,
            monolingual_target=self.monolingual_source,
        )
