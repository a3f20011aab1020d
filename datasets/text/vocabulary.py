"""Characters to ids and back."""

import hashlib
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.characters import character_counts, code_points
from bytenet.datasets.text.normalisation import normalise
from bytenet.errors import InputError, shown
from bytenet.files import write_text_atomic
from bytenet.limits import MOST_CHARACTERS, MOST_JSON_BYTES, parse_json, read_limited
from bytenet.lite.characters import EOS_ID, UNKNOWN_ID, VOCABULARY_FORMAT, UnknownRule, decoded, symbols_by_id

if TYPE_CHECKING:
    from bytenet.config import DataConfig


class _SavedVocabulary(TypedDict):
    format: Literal["bytenet-vocabulary-1"]
    unknown: UnknownRule
    characters: list[str]


class Vocabulary:
    """The characters that a model knows, and their ids.

    Id 0 is padding and the start of every target. Id 1 is the end of a sentence. Id 2 is a character that is not in the
    vocabulary. The characters follow from 3 on, in the order of their code points. With `unknown="drop"`, the thesis's
    rule, unknown characters are left out and have no id, so the characters start at 2.

    Every text is brought to NFC first. Any Unicode character may be in the vocabulary, also NUL, tab and U+2028.

    Args:
        characters: single characters in NFC, in any order, without repetition.
        unknown: what is done with a character outside the vocabulary: "symbol" gives it id 2, "drop" leaves it out,
            "error" raises an `InputError`.

    Attributes:
        unknown: as given.
        characters: in the order of their ids.
        known: the same as a set.
        code_points: int32 `(characters,)`.
        first_id: id of the first character.

    Raises:
        InputError: `unknown` is no rule; or something is not a single NFC character, or is given twice.

    Reference:
        The code of Madsen 2017, `TextDataset`. Its text has no rule for unknown characters.
    """

    def __init__(self, characters: Sequence[str], unknown: UnknownRule = "symbol"):
        if unknown not in get_args(UnknownRule):
            raise InputError(f'unknown = {unknown!r} is not a rule; expected "symbol", "drop" or "error".')
        if len(characters) > MOST_CHARACTERS:
            raise InputError(
                f"The text has {len(characters):,} different characters; expected at most {MOST_CHARACTERS:,}. Is it "
                "text? If rare characters may be unknown, set data.min_character_count."
            )
        characters = sorted(characters)
        for character in characters:
            # Python's test is enough, and needs no TensorFlow: the texts were normalised before.
            is_normal = unicodedata.is_normalized("NFC", character)
            if len(character) != 1 or "\ud800" <= character <= "\udfff" or not is_normal:
                raise InputError(f"A vocabulary has single characters in NFC; found {shown(character)}.")
        if len(set(characters)) != len(characters):
            repeated = [character for character, count in Counter(characters).items() if count > 1]
            raise InputError(f"A vocabulary has each character once; found more than once: {shown(repeated)}.")
        self.unknown: UnknownRule = unknown
        self.characters: tuple[str, ...] = tuple(characters)
        self.code_points = np.array([ord(character) for character in characters], np.int32)
        self.first_id = EOS_ID + 1 if unknown == "drop" else UNKNOWN_ID + 1
        self.known = frozenset(characters)
        self._symbols = symbols_by_id(characters, unknown)

    @classmethod
    def from_texts(cls, *texts: Iterable[str], unknown: UnknownRule = "symbol", min_count: int = 1) -> "Vocabulary":
        """The vocabulary of all characters that occur at least `min_count` times in all `texts` together."""
        return cls.from_counts(character_counts(*texts), unknown, min_count)

    @classmethod
    def from_counts(
        cls, counts: Mapping[str, int], unknown: UnknownRule = "symbol", min_count: int = 1
    ) -> "Vocabulary":
        """The vocabulary of all characters that occur at least `min_count` times."""
        return cls([character for character, count in counts.items() if count >= min_count], unknown)

    @classmethod
    def from_pairs(cls, pairs: Pairs, config: "DataConfig") -> "Vocabulary":
        """The vocabulary of both sides of the training pairs.

        Args:
            pairs: the training pairs.
            config: reads `unknown` and `min_character_count` from it.
        """
        return cls.from_texts(pairs.source, pairs.target, unknown=config.unknown, min_count=config.min_character_count)

    @property
    def size(self) -> int:
        """Number of ids, those of padding and of the end symbol counted."""
        return len(self._symbols)

    @property
    def unknown_id(self) -> int | None:
        """Id of unknown characters; None if they are dropped."""
        return None if self.unknown == "drop" else UNKNOWN_ID

    def encode(self, text: str) -> np.ndarray:
        """The ids of `text`, with the end symbol.

        Returns:
            int32 `(n + 1,)`, n the number of characters of `text` in NFC (with "drop", of the known ones).

        Raises:
            InputError: with `unknown="error"`, for a character outside the vocabulary.
        """
        return self.encode_joined([text])[0]

    def encode_batch(self, texts: Iterable[str]) -> list[np.ndarray]:
        """What `encode` gives for each of `texts`, much faster."""
        ids, lengths = self.encode_joined(texts)
        ends = np.cumsum(lengths)
        return [ids[end - length : end] for end, length in zip(ends, lengths, strict=True)]

    def encode_joined(self, texts: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """The ids of many texts as one array.

        Returns:
            The ids, int32 `(symbols,)`: text after text, each with its end symbol. The number of ids of each text,
            int64 `(texts,)`.

        Raises:
            InputError: with `unknown="error"`, for a character outside the vocabulary.
        """
        texts = normalise(texts)
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
        points = code_points("".join(texts))
        ids = np.take(self.ids_by_code_point, points, mode="clip")
        unknown = np.flatnonzero(ids < 0)
        if self.unknown == "symbol":
            ids[unknown] = UNKNOWN_ID
        elif self.unknown == "drop":
            ends = ends - np.searchsorted(unknown, ends)  # less the unknown characters before each end
            ids = np.delete(ids, unknown)
        elif len(unknown):
            character = chr(points[unknown[0]])
            text = texts[np.searchsorted(ends, unknown[0], side="right")]
            raise InputError(
                f"The character {character!r} (U+{ord(character):04X}) of {shown(text)} is not in the vocabulary of "
                "the model. Remove it from the text, or train with data.unknown set to symbol."
            )
        return np.insert(ids, ends, EOS_ID), np.diff(ends, prepend=0) + 1

    @cached_property
    def ids_by_code_point(self) -> np.ndarray:
        """int32: the id of each code point, -1 for an unknown one. The last entry is for all higher code points."""
        table = np.full(int(self.code_points.max(initial=-1)) + 2, -1, np.int32)
        table[self.code_points] = np.arange(len(self.code_points)) + self.first_id
        return table

    def encoded_lengths(self, texts: Iterable[str]) -> np.ndarray:
        """int32 `(texts,)`: the number of ids of each text, end symbol counted; several times faster than encoding.

        Raises:
            InputError: with `unknown="error"`, for a character outside the vocabulary.
        """
        texts = normalise(texts)
        lengths = np.fromiter(map(len, texts), np.int32, len(texts)) + 1
        if self.unknown != "symbol":
            with_unknown = np.flatnonzero(~self.knows(texts))
            lengths[with_unknown] = self.encode_joined(texts.take(with_unknown))[1]
        return lengths

    def knows(self, texts: Iterable[str]) -> np.ndarray:
        """bool `(texts,)`: whether all characters of a text, in NFC, are in the vocabulary."""
        return np.fromiter(map(self.known.issuperset, normalise(texts)), bool)

    def encoded_characters(self, text: str) -> str:
        """The characters of `text` that `encode` gives an id: all of its NFC, but with "drop" only the known ones."""
        characters = normalise([text])[0]
        return "".join(filter(self.known.__contains__, characters)) if self.unknown == "drop" else characters

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids` up to the first end symbol. Padding gives nothing, an unknown id gives U+FFFD."""
        return decoded(ids, self._symbols)

    def decode_batch(self, ids: Any) -> list[str]:
        """The texts of an array or tensor of ids, int `(batch, length)`."""
        return [self.decode(row) for row in np.asarray(ids)]

    def to_json(self) -> str:
        """The vocabulary as JSON, which `from_json` reads."""
        content = {"format": VOCABULARY_FORMAT, "unknown": self.unknown, "characters": self.characters}
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, where: str = "the vocabulary") -> "Vocabulary":
        """Read what `to_json` wrote; `where` is the name of its file in messages.

        Raises:
            InputError: the text is something else.
        """
        expected = "a vocabulary.json that bytenet wrote, unchanged"
        content = parse_json(text, _SavedVocabulary, where, expected)
        try:
            return cls(content["characters"], content["unknown"])
        except InputError as error:
            raise InputError(f"{where} is damaged ({error}); expected {expected}.") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary as JSON to `path`, completely or not at all."""
        write_text_atomic(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Vocabulary":
        """Read what `save` wrote.

        Raises:
            MissingFileError: there is no such file.
            InputError: the file is not a vocabulary.
        """
        return cls.from_json(read_limited(path, MOST_JSON_BYTES, "a vocabulary"), where=str(path))

    def fingerprint(self) -> str:
        """A digest (SHA-256, hexadecimal) that differs if the characters or the rule differ."""
        return hashlib.sha256(self.to_json().encode("utf-8")).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return (self.characters, self.unknown) == (other.characters, other.unknown)

    def __hash__(self) -> int:
        return hash((self.characters, self.unknown))

    def __repr__(self) -> str:
        return f"Vocabulary({len(self.characters)} characters, size {self.size}, unknown={self.unknown!r})"
