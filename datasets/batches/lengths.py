"""How long texts and pairs are, in ids."""

from collections.abc import Sequence

import numpy as np

from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.vocabulary import Vocabulary


def text_lengths(texts: Sequence[str], vocabulary: Vocabulary) -> np.ndarray:
    """int32 `(texts,)`: number of ids of each text, end symbol counted."""
    return vocabulary.encoded_lengths(texts)


def pair_lengths(pairs: Pairs, vocabulary: Vocabulary) -> np.ndarray:
    """int32 `(pairs,)`: number of ids of the longer side of each pair, end symbol counted."""
    return np.maximum(text_lengths(pairs.source, vocabulary), text_lengths(pairs.target, vocabulary))
