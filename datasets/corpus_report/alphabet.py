"""The characters of a corpus: how often each occurs, and which are rare or odd."""

import unicodedata
from dataclasses import dataclass

from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.characters import character_counts, is_odd
from bytenet.datasets.text.vocabulary import Vocabulary

# A character that occurs less often in the training pairs is rare.
RARE_BELOW = 10


@dataclass(frozen=True)
class CharacterCount:
    """A character of the training pairs.

    Attributes:
        character: the character.
        code_point: such as `U+00E4`.
        name: its name in Unicode, or its category if it has none.
        count: how often it occurs.
        rare: whether it occurs less often than `RARE_BELOW`.
        odd: whether it rarely belongs in a sentence, see `is_odd`.
    """

    character: str
    code_point: str
    name: str
    count: int
    rare: bool
    odd: bool


def count_characters(pairs: Pairs) -> tuple[CharacterCount, ...]:
    """Count the characters of both sides; the most frequent come first."""
    counts = character_counts(pairs.source, pairs.target)
    by_frequency = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        CharacterCount(
            character=character,
            code_point=f"U+{ord(character):04X}",
            name=unicodedata.name(character, f"(no name, category {unicodedata.category(character)})"),
            count=count,
            rare=count < RARE_BELOW,
            odd=is_odd(character),
        )
        for character, count in by_frequency
    )


def unseen_characters(pairs: Pairs, vocabulary: Vocabulary) -> dict[str, int]:
    """The characters of `pairs` that are not in a vocabulary, with their counts; the most frequent come first."""
    in_vocabulary = set(vocabulary.characters)
    return {item.character: item.count for item in count_characters(pairs) if item.character not in in_vocabulary}
