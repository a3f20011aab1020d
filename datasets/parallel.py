"""Sentence pairs, and a corpus of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from bytenet.datasets.text.normalisation import normalise
from bytenet.errors import InputError


@dataclass(frozen=True)
class Pairs:
    """Sentences and their translations: `source[i]` and `target[i]` belong together. Both are kept in NFC.

    Raises:
        InputError: the numbers of sources and targets differ.
    """

    source: list[str]
    target: list[str]

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            numbers = f"{len(self.source)} sources but {len(self.target)} targets"
            raise InputError(f"Found {numbers}; expected the same number.")
        for side in ("source", "target"):
            object.__setattr__(self, side, normalise(getattr(self, side)))

    def __len__(self) -> int:
        return len(self.source)

    def take(self, indices: Iterable[int]) -> "Pairs":
        """The pairs at `indices`, in that order."""
        indices = list(indices)
        # Both sides are normalised: `normalise` gives them back as they are.
        return Pairs(normalise(self.source).take(indices), normalise(self.target).take(indices))

    def reversed(self) -> "Pairs":
        """The same pairs for the other direction."""
        return Pairs(self.target, self.source)


@dataclass(frozen=True)
class Corpus:
    """Training, validation and test pairs of one direction of translation.

    `monolingual_source` and `monolingual_target` are sentences without translations, kept in NFC. `synthetic` are more
    training pairs, of which a machine wrote one side.
    """

    name: str
    train: Pairs
    validation: Pairs | None
    test: Pairs | None
    source_language: str
    target_language: str
    monolingual_source: list[str] | None = None
    monolingual_target: list[str] | None = None
    synthetic: Pairs | None = None

    def __post_init__(self) -> None:
        for side in ("monolingual_source", "monolingual_target"):
            if (texts := getattr(self, side)) is not None:
                object.__setattr__(self, side, normalise(texts))

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
            synthetic=self.synthetic and self.synthetic.reversed(),
        )
