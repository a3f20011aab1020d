"""Corpora by name. Each has a module of its own with an `ENTRY` for the registry."""

from bytenet.datasets.corpora.digits import digits
from bytenet.datasets.corpora.entry import CorpusEntry, RemoteFile
from bytenet.datasets.corpora.numbers import number_splits
from bytenet.datasets.corpora.registry import available, find_entry

__all__ = ["CorpusEntry", "RemoteFile", "available", "digits", "find_entry", "number_splits"]
