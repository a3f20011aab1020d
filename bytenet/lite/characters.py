"""The ids of characters, and one line at a time as ids and back, without TensorFlow."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any, Literal, Self, get_args

import numpy as np

from bytenet.errors import InputError, shown

PAD_ID = 0
EOS_ID = 1
UNKNOWN_ID = 2
REPLACEMENT = "\ufffd"
VOCABULARY_FORMAT = "bytenet-vocabulary-1"

UnknownRule = Literal["symbol", "drop", "error"]


def symbols_by_id(characters: Iterable[str], unknown: UnknownRule) -> list[str]:
    """What each id stands for in a text. Padding and the end symbol are empty, an unknown character is U+FFFD."""
    specials = ["", ""] if unknown == "drop" else ["", "", REPLACEMENT]
    return [*specials, *characters]


def decoded(ids: Iterable[int], symbols: Sequence[str]) -> str:
    """The text of ids up to the first end symbol. An id without a symbol gives U+FFFD."""
    text = []
    for number in np.asarray(ids).tolist():
        if number == EOS_ID:
            break
        text.append(symbols[number] if 0 <= number < len(symbols) else REPLACEMENT)
    return "".join(text)


def fits(text: str, encode: Callable[[str], Sized], longest: int | None) -> bool:
    """Whether a model can read and write a text: it is not too long, and no character is refused.

    Args:
        text: any line.
        encode: gives the ids of a line, or raises an `InputError`.
        longest: most symbols of a line, with the end symbol; None for no limit.
    """
    try:
        length = len(encode(text))
    except InputError:
        return False
    return longest is None or length <= longest


def check_length(num_symbols: int, longest: int | None, name: str = "A sentence") -> None:
    """Check that a model can read a text.

    Args:
        num_symbols: of the text, with the end symbol.
        longest: as for `fits`.
        name: of the text, at the beginning of the message.

    Raises:
        InputError: it is too long.
    """
    if longest is not None and num_symbols > longest:
        raise InputError(
            f"{name} has {num_symbols:,} symbols with the end symbol, but the model reads at most {longest:,}. Split "
            "it, leave it out, or train a model with a larger model.max_positions."
        )


def has_symbols(ids: Sized) -> bool:
    """Whether an encoded line has more than the end symbol.

    It is false for a blank line, see `readable`, and for a line whose characters the vocabulary's rule drops.
    """
    return len(ids) > 1


def name_of_line(number: int, line: str) -> str:
    """A line in a message: its number, counted from 1, and its text, shortened."""
    return f"Line {number:,} ({shown(line)})"


class Characters:
    """The characters that a model knows, as `bytenet.datasets.Vocabulary` has them.

    Text is brought to NFC by Python's `unicodedata`; training uses TensorFlow Text. The two differ only for characters
    that are younger than the version of Unicode that one of them has.

    Args:
        characters: single characters in the order of their ids.
        unknown: what is done with other characters: "symbol" gives them id 2, "drop" leaves them out, "error" raises an
            `InputError`.

    Attributes:
        unknown: as given.
        symbols: what each id stands for, see `symbols_by_id`.
        known: the characters.
    """

    def __init__(self, characters: Sequence[str], unknown: UnknownRule):
        self.unknown = unknown
        self.symbols = symbols_by_id(characters, unknown)
        self.known = frozenset(characters)
        first_id = len(self.symbols) - len(characters)
        self._ids = {character: first_id + place for place, character in enumerate(characters)}

    @classmethod
    def from_content(cls, content: Mapping[str, Any], where: str) -> Self:
        """Make it from the content of a `vocabulary.json`; `where` names the file in messages.

        Raises:
            InputError: the content is something else.
        """
        characters: Any = content.get("characters")
        unknown: Any = content.get("unknown")
        if (
            content.get("format") != VOCABULARY_FORMAT
            or unknown not in get_args(UnknownRule)
            or not isinstance(characters, list)
            or not all(map(_is_character, characters))
            or len(set(characters)) < len(characters)
        ):
            raise InputError(f"{where} is not a vocabulary written by bytenet. Export the model again.")
        return cls(characters, unknown)

    def encode(self, line: str) -> np.ndarray:
        """The ids of a line with the end symbol, int32 `(n,)`.

        Raises:
            InputError: with the rule "error", for an unknown character.
        """
        ids = []
        for character in unicodedata.normalize("NFC", line):
            number = self._ids.get(character)
            if number is not None:
                ids.append(number)
            elif self.unknown == "symbol":
                ids.append(UNKNOWN_ID)
            elif self.unknown == "error":
                raise InputError(
                    f"The character {character!r} (U+{ord(character):04X}) of {shown(line)} is not in the vocabulary "
                    "of the model. Remove it from the text."
                )
        return np.array([*ids, EOS_ID], np.int32)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids up to the first end symbol."""
        return decoded(ids, self.symbols)


def _is_character(value: Any) -> bool:
    """Whether a value is a character that a line of UTF-8 can have. Only "\\n" ends a line, so "\\r" is one."""
    return isinstance(value, str) and len(value) == 1 and value != "\n" and not "\ud800" <= value <= "\udfff"
