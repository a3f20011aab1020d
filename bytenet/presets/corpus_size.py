"""The number of training pairs of a corpus, by which a preset is chosen."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bytenet.config import DataConfig


def number_of_pairs(data: DataConfig) -> int:
    """The number of training pairs in a corpus, at most `max_train_pairs`, before the limits on length, and the number
    of synthetic pairs. For shards, it is the number of pairs in the folder.

    Raises:
        InputError: it cannot be read.
    """
    from bytenet.datasets import read_corpus
    from bytenet.datasets.shards.folder import ShardFolder

    if data.train_shards is not None:
        return len(ShardFolder.open(data.train_shards))
    with _only_errors():  # the command reads the corpus again, with all its warnings
        corpus = read_corpus(data)
    number = len(corpus.train)
    return min(number, data.max_train_pairs or number) + len(corpus.synthetic or ())


@contextmanager
def _only_errors() -> Iterator[None]:
    """No warnings about a corpus inside."""
    logger = logging.getLogger("bytenet.datasets")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
