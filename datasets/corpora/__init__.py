"""Corpora by name: where they come from, and their sentence pairs."""

from bytenet.datasets.corpora.digits import digits
from bytenet.datasets.corpora.entry import CorpusEntry, RemoteFile
from bytenet.datasets.corpora.numbers import number_splits
from bytenet.datasets.corpora.registry import (
    available,
    find_entry,
    load_corpus,
    read_corpus,
    select_training_pairs,
)

__all__ = [
    "CorpusEntry",
    "RemoteFile",
    "available",
    "digits",
    "find_entry",
    "load_corpus",
    "number_splits",
    "read_corpus",
    "select_training_pairs",
]
