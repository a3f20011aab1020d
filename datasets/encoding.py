"""Whole corpora as ids, encoded once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bytenet.datasets.characters import code_points, normalise
from bytenet.datasets.vocabulary import EOS_ID, UNKNOWN_ID, Vocabulary

# So many are held as 32-bit code points at a time.
_TEXTS_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """Many texts as one array of ids, a byte each where the vocabulary has at most 256 symbols, else two (or four).

    Attributes:
        ids: uint8, uint16 or int32 `(symbols,)`: text after text, each with its end symbol.
        starts: int64 `(texts + 1,)`: text i is `ids[starts[i]:starts[i + 1]]`.
    """

    ids: np.ndarray
    starts: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """int64 `(texts,)`: ids of each text, end symbol counted."""
        return np.diff(self.starts)


def encode_texts(texts: Sequence[str], vocabulary: Vocabulary) -> EncodedTexts:
    """Encode all texts, each as `vocabulary.encode` would, about twenty times faster.

    Raises:
        InputError: a text has an unknown character under the rule "error".
    """
    dtype = np.uint8 if vocabulary.size <= 2**8 else np.uint16 if vocabulary.size <= 2**16 else np.int32
    parts, lengths = [np.empty(0, dtype)], [np.zeros(1, np.int64)]
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        part, part_lengths = _encode_part(texts[start : start + _TEXTS_AT_ONCE], vocabulary)
        parts.append(part.astype(dtype))
        lengths.append(part_lengths)
    return EncodedTexts(np.concatenate(parts), np.cumsum(np.concatenate(lengths)))


def _encode_part(texts: Sequence[str], vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """The ids of all texts, and the number of ids of each."""
    normalised = [normalise(text) for text in texts]
    ends = np.cumsum([len(text) for text in normalised])
    ids = vocabulary.ids_of(code_points("".join(normalised)))
    unknown = np.flatnonzero(ids < 0)
    if vocabulary.unknown == "symbol":
        ids[unknown] = UNKNOWN_ID
    elif vocabulary.unknown == "drop":
        ends = ends - np.searchsorted(unknown, ends)  # less the unknown ones before each end
        ids = np.delete(ids, unknown)
    elif len(unknown):
        vocabulary.encode(texts[np.searchsorted(ends, unknown[0], side="right")])  # raises, and names it
    return np.insert(ids, ends, EOS_ID), np.diff(ends, prepend=0) + 1
