"""The corpora that `data.corpus` can name, and the way from a configuration to sentence pairs."""

import dataclasses
import difflib
import logging
from typing import Any

import numpy as np

from bytenet.datasets.corpora.digits import ENTRY as DIGITS
from bytenet.datasets.corpora.entry import CorpusEntry
from bytenet.datasets.corpora.europarl import ENTRY as EUROPARL
from bytenet.datasets.corpora.multi30k import ENTRY as MULTI30K
from bytenet.datasets.corpora.multi30k_monolingual import ENTRY as MULTI30K_MONOLINGUAL
from bytenet.datasets.corpora.newstest import ENTRY as NEWSTEST
from bytenet.datasets.corpora.numbers import ENTRY as NUMBERS
from bytenet.datasets.corpora.tatoeba import ENTRY as TATOEBA
from bytenet.datasets.corpora.user_files import ENTRY as FILES
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.text.characters import is_blank
from bytenet.datasets.text.text_files import read_lines
from bytenet.errors import ConfigError, InputError

logger = logging.getLogger("bytenet.datasets")

_ENTRIES = {
    entry.name: entry for entry in (DIGITS, NUMBERS, MULTI30K, MULTI30K_MONOLINGUAL, TATOEBA, NEWSTEST, EUROPARL, FILES)
}
# Settings that a corpus has where its entry says so.
_NOT_OF_ALL = (
    "train_years", "validation_years", "test_years", "num_train", "num_validation", "num_test", "train_seed",
    "validation_seed", "test_seed",
)  # fmt: skip


def available() -> list[CorpusEntry]:
    """All corpora of the registry."""
    return list(_ENTRIES.values())


def find_entry(name: str) -> CorpusEntry:
    """The registry's entry of that name.

    Raises:
        ConfigError: there is none; the message gives the nearest name.
    """
    if name in _ENTRIES:
        return _ENTRIES[name]
    near = difflib.get_close_matches(name, _ENTRIES, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ConfigError(f"data.corpus = {name!r} is not a corpus.{hint} There are: {', '.join(_ENTRIES)}.")


def read_corpus(config: Any) -> Corpus:
    """The corpus a `DataConfig` names, all its pairs, with the monolingual text it names.

    With `reversed`, the corpus's and all files' sources are the targets, and the other way round.

    Raises:
        ConfigError: there is no such corpus, or it lacks a language.
        InputError: the corpus or a file cannot be had or used.
    """
    entry = find_entry(config.corpus)
    for key in ("source_language", "target_language"):
        language = getattr(config, key)
        if entry.languages and language not in entry.languages:
            raise ConfigError(
                f"data.{key} = {language!r}, which the corpus {entry.name!r} does not have; "
                f"it has {', '.join(entry.languages)}."
            )
    if entry.languages and config.source_language == config.target_language:
        raise ConfigError(f"data.source_language and data.target_language are both {config.source_language!r}.")
    ignored = [key for key in _NOT_OF_ALL if getattr(config, key) is not None and key not in entry.settings]
    if ignored:
        logger.warning(
            "The corpus %s does not go by %s, which the preset or you set.%s",
            entry.name, ", ".join(f"data.{key}" for key in ignored),
            " data.max_train_pairs takes fewer pairs." if "num_train" in ignored else "",
        )  # fmt: skip
    corpus = entry.read(config)
    monolingual = {
        key: read_lines(path)
        for key in ("monolingual_source", "monolingual_target")
        if (path := getattr(config, key)) is not None
    }
    corpus = dataclasses.replace(corpus, **monolingual)
    return corpus.reversed() if config.reversed else corpus


def load_corpus(config: Any) -> Corpus:
    """The corpus a `DataConfig` names, ready for training.

    Only the training pairs are limited: to those with `min_length` to `max_length` characters (in NFC, without the end
    symbol; a line that shows nothing has none) on both sides, and to `max_train_pairs` of them. Validation and test
    stay whole, so that scores on them can be compared. The thesis's upper limit was exclusive: its 150 is
    `max_length: 149`.

    Raises:
        InputError: as `read_corpus`; or no training pair is within the limits.
    """
    corpus = read_corpus(config)
    return dataclasses.replace(corpus, train=select_training_pairs(corpus.train, config))


def select_training_pairs(pairs: Pairs, config: Any) -> Pairs:
    """Those of `pairs` within the length limits, in their order; where `max_train_pairs` is less, a sample.

    The sample is drawn over the whole corpus, always the same, and a larger one contains a smaller one.

    Raises:
        InputError: none is within the limits.
    """
    shortest, longest = config.min_length, config.max_length
    lengths = np.array([_character_lengths(side) for side in (pairs.source, pairs.target)])  # (2, pairs)
    kept = np.flatnonzero(((lengths >= shortest) & (lengths <= longest)).all(axis=0))
    if len(kept) == 0:
        found = f"they have {lengths.min()} to {lengths.max()}" if len(pairs) else "there are no pairs"
        raise InputError(
            f"None of the {len(pairs)} training pairs has {shortest} to {longest} characters on both sides "
            f"({found}). Change data.min_length or data.max_length, or look at the corpus."
        )
    if len(kept) < len(pairs):
        logger.info(
            "%d of %d training pairs are left out: not %d to %d characters on both sides.",
            len(pairs) - len(kept), len(pairs), shortest, longest,
        )  # fmt: skip
    if config.max_train_pairs is not None and config.max_train_pairs < len(kept):
        drawn = np.random.RandomState(0).permutation(len(kept))[: config.max_train_pairs]
        kept = kept[np.sort(drawn)]
    return pairs.take(kept.tolist())


def _character_lengths(texts: list[str]) -> np.ndarray:
    return np.fromiter((0 if is_blank(text) else len(text) for text in texts), np.int32, len(texts))
