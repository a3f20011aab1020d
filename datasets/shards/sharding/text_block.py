"""Many texts at once as arrays: their lengths, and the kinds of characters that each has."""

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np

from bytenet.datasets.text.characters import code_points, is_odd

VISIBLE, LETTER, ODD, UNASSIGNED = 1, 2, 4, 8
_NEWLINE = 10


@dataclass(frozen=True)
class TextBlock:
    """Texts in NFC.

    Attributes:
        lines: the texts in UTF-8.
        readable: bool `(texts,)`, False for bytes that were not UTF-8, whose text is empty here.
        lengths: int64 `(texts,)`, characters of each text.
        kinds: uint8 `(texts,)`, the kinds of characters that occur in a text, added up: VISIBLE (not a blank and not
            without width), LETTER, UNASSIGNED (this version of Unicode does not have it) and ODD, see `is_odd`.
    """

    lines: list[bytes]
    readable: np.ndarray
    lengths: np.ndarray
    kinds: np.ndarray
    _character_kinds: np.ndarray  # of all texts, with 0 after each
    _starts: np.ndarray

    @classmethod
    def of(cls, lines: list[bytes]) -> "TextBlock":
        """Measure at least one line, without "\\n", after bringing all to NFC."""
        readable = np.ones(len(lines), bool)
        try:
            text = b"\n".join(lines).decode()
        except UnicodeDecodeError:
            readable = np.fromiter(map(_is_utf8, lines), bool, len(lines))
            lines = [line if fine else b"" for line, fine in zip(lines, readable, strict=True)]
            text = b"\n".join(lines).decode()
        # Python's normal form is right for all characters that it knows, see `bytenet.datasets.text.normalisation`. No
        # normal form reaches over a "\n".
        if not unicodedata.is_normalized("NFC", text):
            text = unicodedata.normalize("NFC", text)
            lines = text.encode().split(b"\n")
        points = code_points(f"{text}\n")
        kinds = _kind_table()[points]
        ends = np.flatnonzero(points == _NEWLINE)
        starts = np.append(0, ends[:-1] + 1)
        return cls(lines, readable, ends - starts, np.bitwise_or.reduceat(kinds, starts), kinds, starts)

    def count_letters(self) -> np.ndarray:
        """int64 `(texts,)`: number of letters in each text, with the marks that belong to them."""
        return np.add.reduceat(self._character_kinds & LETTER, self._starts, dtype=np.int64) // LETTER


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


@cache
def _kind_table() -> np.ndarray:
    """uint8 `(0x110000,)`: the kinds of each code point. "\\n", which ends a text, has none."""
    table = np.zeros(0x110000, np.uint8)
    for point in range(0x110000):
        character = chr(point)
        category = unicodedata.category(character)
        visible = category != "Cf" and not character.isspace()
        table[point] = VISIBLE * visible + LETTER * (category[0] in "LM") + UNASSIGNED * (category == "Cn")
        table[point] += ODD * is_odd(character)
    table[_NEWLINE] = 0
    return table
