"""Texts as sequences of characters, which are Unicode code points in NFC."""

import unicodedata
from collections.abc import Iterable
from itertools import chain, islice

import numpy as np

_LINES_AT_ONCE = 10_000


def normalise(text: str) -> str:
    """`text` in Unicode's NFC, so that a decomposed "ü" is one character like the composed one."""
    return unicodedata.normalize("NFC", text)


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: it is empty, or all blanks and characters without width."""
    return all(character.isspace() or unicodedata.category(character) == "Cf" for character in text)


def comparable(text: str) -> str:
    """`text` as it is looked for among others: in NFC, without blanks around it."""
    return normalise(text).strip()


def code_points(text: str) -> np.ndarray:
    """int32 `(n,)`: the code points of a text of n characters."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)


def character_counts(*texts: Iterable[str]) -> dict[str, int]:
    """How often each character occurs in all `texts` together, brought to NFC; in the order of code points."""
    counts = np.zeros(0x110000, np.int64)
    lines = map(normalise, chain.from_iterable(texts))
    # Many lines at once: an array counts ten times faster than a dictionary does character by character.
    while together := list(islice(lines, _LINES_AT_ONCE)):
        found = np.bincount(code_points("".join(together)))
        counts[: len(found)] += found
    return {chr(point): int(counts[point]) for point in np.flatnonzero(counts)}
