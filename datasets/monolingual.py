"""Text of one language: which of its sentences are learned from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bytenet.datasets.characters import is_blank
from bytenet.datasets.vocabulary import Vocabulary


@dataclass(frozen=True)
class SelectedTexts:
    """The sentences that are learned from.

    Attributes:
        texts: themselves, in their order.
        outside_limits: number of those left out for their length.
        unknown_characters: number of those left out for characters that are not in the vocabulary.
    """

    texts: list[str]
    outside_limits: int
    unknown_characters: int


def select_monolingual(texts: Sequence[str], config: Any, vocabulary: Vocabulary) -> SelectedTexts:
    """Those of `texts` within the limits of a `DataConfig` whose characters are known; a sample where it asks so.

    Where `unknown` is "symbol", a sentence with an unknown character is left out: a model that learned to write that
    symbol would be of no use. The sample is drawn by `monolingual_seed`; a larger one contains a smaller one.

    Raises:
        InputError: with `unknown="error"`, for a character outside the vocabulary.
    """

    def length(text: str) -> int:
        return 0 if is_blank(text) else vocabulary.encoded_length(text) - 1

    within = [text for text in texts if config.min_length <= length(text) <= config.max_length]
    kept = within
    if vocabulary.unknown == "symbol":
        kept = [text for text in within if vocabulary.knows(text)]
    outside, unknown = len(texts) - len(within), len(within) - len(kept)
    if config.num_monolingual is not None and config.num_monolingual < len(kept):
        drawn = np.random.RandomState(config.monolingual_seed or 0).permutation(len(kept))[: config.num_monolingual]
        kept = [kept[index] for index in np.sort(drawn)]
    return SelectedTexts(kept, outside, unknown)
