"""Which sentences are learned from: training pairs and monolingual text."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text.normalisation import NormalisedTexts, normalise
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import ConfigError, InputError
from bytenet.lite.white_space import is_blank

if TYPE_CHECKING:
    from bytenet.config import DataConfig

logger = logging.getLogger("bytenet.datasets")


def select_training_pairs(pairs: Pairs, config: "DataConfig") -> Pairs:
    """Select the pairs that are within the limits on length, in their order.

    Both sides have `min_length` to `max_length` characters in NFC, without the end symbol. A line that shows nothing
    has 0 characters. If more than `max_train_pairs` are left, a sample is drawn over the whole corpus, always the same.
    The thesis's upper limit was exclusive: its 150 is `max_length: 149`.

    Args:
        pairs: all pairs.
        config: reads `min_length`, `max_length` and `max_train_pairs` from it.

    Raises:
        ConfigError: the pairs are in shards.
        InputError: no pair is within the limits.
    """
    if config.corpus == "shards":
        raise ConfigError(
            "data.corpus is shards, whose training pairs are not read into memory. Only `bytenet train` can use them, "
            "and `bytenet profile` without --decode. Here, set data.corpus to files and give two text files, perhaps a "
            "part of the corpus. `cut -f1` and `cut -f2` make them of a tab-separated file."
        )
    kept = _within_limits(pairs, config, "training")
    return pairs.take(_sample(kept, config.max_train_pairs, seed=0).tolist())


def select_synthetic_pairs(corpus: Corpus, config: "DataConfig") -> Pairs:
    """Select the synthetic pairs that are learned from, and put the tag in front of their sources.

    The tag tells the model which pairs are synthetic (Caswell et al., 2019, Tagged Back-Translation).

    Args:
        corpus: without synthetic pairs, there are none.
        config: reads `min_length`, `max_length` and `synthetic_tag` from it. The tag does not count for the limits.

    Raises:
        InputError: no synthetic pair is within the limits.
    """
    if corpus.synthetic is None:
        return Pairs([], [])
    pairs = corpus.synthetic.take(_within_limits(corpus.synthetic, config, "synthetic").tolist())
    return Pairs([(config.synthetic_tag or "") + text for text in pairs.source], pairs.target)


@dataclass(frozen=True)
class SelectedPairs:
    """The pairs of an epoch.

    Attributes:
        real: the selected pairs of the corpus.
        synthetic: the selected synthetic pairs, with their tag.
        copies: how often each real pair comes in an epoch.
    """

    real: Pairs
    synthetic: Pairs
    copies: int

    @property
    def once(self) -> Pairs:
        """Each pair once: the real ones, then the synthetic ones."""
        return self._pairs(copies=1)

    @property
    def epoch(self) -> Pairs:
        """All copies of the real pairs, then the synthetic pairs."""
        return self._pairs(self.copies)

    def in_epoch(self, values: np.ndarray) -> np.ndarray:
        """Values of `once`, such as lengths, `(pairs,)`, repeated as the pairs are in `epoch`."""
        real, synthetic = np.split(values, [len(self.real)])
        return np.concatenate([*[real] * self.copies, synthetic])

    def _pairs(self, copies: int) -> Pairs:
        if copies == 1 and not len(self.synthetic):
            return self.real
        return Pairs(
            list(self.real.source) * copies + self.synthetic.source,
            list(self.real.target) * copies + self.synthetic.target,
        )


def training_pairs(corpus: Corpus, config: "DataConfig") -> SelectedPairs:
    """The pairs that a run learns from.

    Args:
        corpus: with all its pairs.
        config: of the data.

    Raises:
        ConfigError, InputError: see `select_training_pairs` and `select_synthetic_pairs`.
    """
    return SelectedPairs(
        select_training_pairs(corpus.train, config), select_synthetic_pairs(corpus, config), config.pair_copies
    )


def _within_limits(pairs: Pairs, config: "DataConfig", kind: str) -> np.ndarray:
    """The indices, ascending, of the pairs that are within the limits on length on both sides."""
    shortest, longest = config.min_length, config.max_length
    sides = pairs.source, pairs.target
    lengths = np.array([[len(text) for text in side] for side in sides], np.int32)  # (2, pairs)
    visible = np.where([[is_blank(text) for text in side] for side in sides], 0, lengths)
    kept = np.flatnonzero(((visible >= shortest) & (lengths <= longest)).all(axis=0))
    if len(kept) == 0:
        actual = f"they have {visible.min()} to {lengths.max()}" if len(pairs) else "there are no pairs"
        raise InputError(
            f"None of the {len(pairs)} {kind} pairs has {shortest} to {longest} characters on both sides "
            f"({actual}). Change data.min_length or data.max_length, or look at the corpus."
        )
    if len(kept) < len(pairs):
        logger.info(
            "%d of %d %s pairs are left out: not %d to %d characters on both sides.",
            len(pairs) - len(kept), len(pairs), kind, shortest, longest,
        )  # fmt: skip
    return kept


@dataclass(frozen=True)
class SelectedTexts:
    """The sentences of one language that are learned from.

    Attributes:
        texts: the sentences, in the order of the corpus.
        outside_limits: number of sentences that are left out because of their length.
        unknown_characters: number of sentences that are left out because a character is not in the vocabulary.
    """

    texts: NormalisedTexts
    outside_limits: int
    unknown_characters: int


def select_monolingual(texts: Sequence[str], config: "DataConfig", vocabulary: Vocabulary) -> SelectedTexts:
    """Select the sentences of one language that are learned from.

    They are within the limits on length. With `unknown="symbol"`, all their characters are in the vocabulary, as a
    model that learned to write the unknown symbol would be of no use. If more than `num_monolingual` are left, a sample
    is drawn by `monolingual_seed`.

    Args:
        texts: all sentences.
        config: reads `min_length`, `max_length`, `num_monolingual` and `monolingual_seed` from it.
        vocabulary: of the run.

    Raises:
        InputError: with `unknown="error"`, for a character outside the vocabulary.
    """
    texts = normalise(texts)
    not_blank = [index for index, text in enumerate(texts) if not is_blank(text)]
    lengths = np.fromiter(map(len, texts), np.int32, len(texts))
    lengths[not_blank] = vocabulary.encoded_lengths(texts.take(not_blank)) - 1
    visible = np.zeros_like(lengths)
    visible[not_blank] = lengths[not_blank]
    within = np.flatnonzero((visible >= config.min_length) & (lengths <= config.max_length))
    kept = within
    if vocabulary.unknown == "symbol":
        kept = within[vocabulary.knows(texts.take(within))]
    num_outside, num_unknown = len(texts) - len(within), len(within) - len(kept)
    kept = _sample(kept, config.num_monolingual, config.monolingual_seed or 0)
    return SelectedTexts(texts.take(kept), num_outside, num_unknown)


def _sample(indices: np.ndarray, most: int | None, seed: int) -> np.ndarray:
    """Draw at most `most` indices, in their order; None is all. A larger sample contains a smaller one."""
    if most is None or most >= len(indices):
        return indices
    return indices[np.sort(np.random.RandomState(seed).permutation(len(indices))[:most])]
