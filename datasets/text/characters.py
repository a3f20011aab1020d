"""Texts as sequences of characters, which are Unicode code points."""

import sys
import unicodedata
from collections.abc import Iterable

import numpy as np

from bytenet.datasets.text.normalisation import normalise
from bytenet.lite.characters import REPLACEMENT
from bytenet.lite.white_space import is_blank

BYTE_ORDER_MARK = "\ufeff"

_ODD_CATEGORIES = ("Cc", "Cn", "Co", "Cs", "Zl", "Zp")
_TEXTS_AT_ONCE = 10_000


def blank_code_points() -> np.ndarray:
    """int32, ascending: the code points of all characters that are blank by themselves."""
    return np.array([point for point in range(sys.maxunicode + 1) if is_blank(chr(point))], np.int32)


def is_odd(character: str) -> bool:
    """Whether a character rarely belongs in a sentence.

    Odd are control characters other than the tab, unassigned and private ones, lone surrogates, U+2028, U+2029, a byte
    order mark, and U+FFFD, the sign of damaged text.
    """
    is_of_odd_category = unicodedata.category(character) in _ODD_CATEGORIES and character != "\t"
    return is_of_odd_category or character in (REPLACEMENT, BYTE_ORDER_MARK)


def comparable(texts: Iterable[str]) -> list[str]:
    """The texts as they are compared with others: in NFC, without blanks at both ends."""
    return [text.strip() for text in normalise(texts)]


def code_points(text: str) -> np.ndarray:
    """int32 `(n,)`: the code points of a text of n characters."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)


def character_counts(*texts: Iterable[str]) -> dict[str, int]:
    """How often each character occurs in all `texts` together, in NFC; in the order of code points."""
    counts = np.zeros(0x110000, np.int64)
    for lines in map(normalise, texts):
        # An array counts many texts at once ten times faster than a dictionary counts character by character.
        for start in range(0, len(lines), _TEXTS_AT_ONCE):
            counts_of_part = np.bincount(code_points("".join(lines[start : start + _TEXTS_AT_ONCE])))
            counts[: len(counts_of_part)] += counts_of_part
    return {chr(point): int(counts[point]) for point in np.flatnonzero(counts)}
