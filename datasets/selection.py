"""Text of one language: which of its sentences are learned from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bytenet.datasets.text.characters import is_blank
from bytenet.datasets.text.normalisation import NormalisedTexts, normalise
from bytenet.datasets.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bytenet.config import DataConfig


@dataclass(frozen=True)
class SelectedTexts:
    """The sentences that are learned from.

    Attributes:
        texts: themselves, in their order.
        outside_limits: number of those left out for their length.
        unknown_characters: number of those left out for characters that are not in the vocabulary.
    """

    texts: NormalisedTexts
    outside_limits: int
    unknown_characters: int


def select_monolingual(texts: Sequence[str], config: "DataConfig", vocabulary: Vocabulary) -> SelectedTexts:
    """Select the sentences of one language that are learned from.

    They are within the limits on length, and with `unknown="symbol"` all their characters are in the vocabulary: a
    model that learned to write the unknown symbol would be of no use. If more than `num_monolingual` are left, a sample
    is drawn by `monolingual_seed`; a larger sample contains a smaller one.

    Raises:
        InputError: with `unknown="error"`, for a character outside the vocabulary.
    """
    texts = normalise(texts)
    not_blank = [index for index, text in enumerate(texts) if not is_blank(text)]
    lengths = np.zeros(len(texts), np.int32)
    lengths[not_blank] = vocabulary.encoded_lengths(texts.take(not_blank)) - 1
    within = np.flatnonzero((lengths >= config.min_length) & (lengths <= config.max_length))
    kept = within
    if vocabulary.unknown == "symbol":
        kept = within[vocabulary.knows(texts.take(within))]
    num_outside, num_unknown = len(texts) - len(within), len(within) - len(kept)
    if config.num_monolingual is not None and config.num_monolingual < len(kept):
        drawn = np.random.RandomState(config.monolingual_seed or 0).permutation(len(kept))[: config.num_monolingual]
        kept = kept[np.sort(drawn)]
    return SelectedTexts(texts.take(kept), num_outside, num_unknown)
