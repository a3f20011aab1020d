"""Pairs as ids, encoded once."""

import numpy as np

from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.encoding import EncodedTexts, encode_texts
from bytenet.datasets.text.normalisation import NormalisedTexts
from bytenet.datasets.text.vocabulary import Vocabulary


def encode_pairs(pairs: Pairs, vocabulary: Vocabulary) -> EncodedTexts:
    """Encode n pairs: the n sources, and after them the n targets.

    Raises:
        InputError: a text has an unknown character under the rule "error".
    """
    return encode_texts(NormalisedTexts([*pairs.source, *pairs.target]), vocabulary)


def encoded_pair_lengths(encoded: EncodedTexts) -> np.ndarray:
    """int64 `(pairs,)`: number of ids of the longer side of each pair of `encode_pairs`, end symbol counted."""
    return encoded.lengths.reshape(2, -1).max(axis=0)
