"""Whole corpora as ids, encoded once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bytenet.datasets.text.normalisation import normalise
from bytenet.datasets.text.vocabulary import Vocabulary

# Only this many texts are held as 32-bit numbers at a time.
_TEXTS_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """Many texts as one array of ids: one byte each if the vocabulary has at most 256 ids, else two or four.

    Attributes:
        ids: uint8, uint16 or int32 `(symbols,)`: text after text, each with its end symbol.
        starts: int64 `(texts + 1,)`: text i is `ids[starts[i]:starts[i + 1]]`.
    """

    ids: np.ndarray
    starts: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """int64 `(texts,)`: number of ids of each text, end symbol counted."""
        return np.diff(self.starts)


def encode_texts(texts: Sequence[str], vocabulary: Vocabulary) -> EncodedTexts:
    """Encode a whole corpus, each text as `vocabulary.encode` does.

    Raises:
        InputError: a text has an unknown character under the rule "error".
    """
    texts = normalise(texts)
    dtype = np.uint8 if vocabulary.size <= 2**8 else np.uint16 if vocabulary.size <= 2**16 else np.int32
    parts, lengths = [np.empty(0, dtype)], [np.zeros(1, np.int64)]
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        part = texts.take(range(start, min(start + _TEXTS_AT_ONCE, len(texts))))
        ids, lengths_of_part = vocabulary.encode_joined(part)
        parts.append(ids.astype(dtype))
        lengths.append(lengths_of_part)
    return EncodedTexts(np.concatenate(parts), np.cumsum(np.concatenate(lengths)))
