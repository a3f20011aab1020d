"""How long pairs are, in ids."""

import numpy as np

from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.vocabulary import Vocabulary


def pair_lengths(pairs: Pairs, vocabulary: Vocabulary) -> np.ndarray:
    """int32 `(pairs,)`: number of ids of the longer side of each pair, end symbol counted."""
    return np.maximum(vocabulary.encoded_lengths(pairs.source), vocabulary.encoded_lengths(pairs.target))
