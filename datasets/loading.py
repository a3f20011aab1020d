"""From a configuration to a corpus."""

import dataclasses
import logging
from typing import TYPE_CHECKING

from bytenet.datasets.corpora.registry import find_entry
from bytenet.datasets.parallel import Corpus
from bytenet.datasets.selection import training_pairs
from bytenet.datasets.text.text_files import read_lines, read_parallel
from bytenet.errors import ConfigError

if TYPE_CHECKING:
    from bytenet.config import DataConfig
    from bytenet.datasets.corpora.entry import CorpusEntry

logger = logging.getLogger("bytenet.datasets")

# Settings that only some corpora have. `CorpusEntry.settings` names them.
_SETTINGS_OF_SOME_CORPORA = (
    "train_years", "validation_years", "test_years", "num_train", "num_validation", "num_test", "train_seed",
    "validation_seed", "test_seed",
)  # fmt: skip


def read_corpus(config: "DataConfig") -> Corpus:
    """Read all pairs of the corpus of a configuration, its monolingual text and its synthetic pairs.

    With `reversed`, sources and targets change places, in the corpus and in all files.

    Raises:
        ConfigError: there is no such corpus, or it does not have a language.
        InputError: the corpus or a file is missing or cannot be used.
    """
    entry = find_entry(config.corpus)
    _check_languages(config, entry)
    _warn_of_ignored_settings(config, entry)
    corpus = entry.read(config)
    if config.monolingual_source is not None:
        corpus = dataclasses.replace(corpus, monolingual_source=read_lines(config.monolingual_source))
    if config.monolingual_target is not None:
        corpus = dataclasses.replace(corpus, monolingual_target=read_lines(config.monolingual_target))
    if config.synthetic_source is not None and config.synthetic_target is not None:
        synthetic = read_parallel(config.synthetic_source, config.synthetic_target)
        corpus = dataclasses.replace(corpus, synthetic=synthetic)
    return corpus.reversed() if config.reversed else corpus


def load_corpus(config: "DataConfig") -> Corpus:
    """Read the corpus of a configuration, with the `training_pairs` of an epoch that a run learns from.

    Validation and test pairs stay complete, so that their scores can be compared.

    Raises:
        ConfigError: see `read_corpus`.
        InputError: see `read_corpus`; or no training pair is within the limits.
    """
    corpus = read_corpus(config)
    return dataclasses.replace(corpus, train=training_pairs(corpus, config).epoch)


def _check_languages(config: "DataConfig", entry: "CorpusEntry") -> None:
    if not entry.languages:  # any language
        return
    for key in ("source_language", "target_language"):
        language = getattr(config, key)
        if language not in entry.languages:
            raise ConfigError(
                f"data.{key} = {language!r}, which the corpus {entry.name!r} does not have; "
                f"it has {', '.join(entry.languages)}."
            )
    if config.source_language == config.target_language:
        raise ConfigError(
            f"data.source_language and data.target_language are both {config.source_language!r}. Set one of them to "
            "the other language."
        )


def _warn_of_ignored_settings(config: "DataConfig", entry: "CorpusEntry") -> None:
    ignored = [
        key for key in _SETTINGS_OF_SOME_CORPORA if getattr(config, key) is not None and key not in entry.settings
    ]
    if ignored:
        logger.warning(
            "The corpus %s does not use %s, which you or the preset set.%s",
            entry.name, ", ".join(f"data.{key}" for key in ignored),
            " To train on fewer pairs, set data.max_train_pairs." if "num_train" in ignored else "",
        )  # fmt: skip
