"""The settings of data for a made corpus."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bytenet.config import DataConfig

# The corpus is made from pairs that were read with these settings; and shards allow only some values of the others.
_SETTINGS_OF_THE_CORPUS = (
    "source_language", "target_language", "reversed", "train_source", "train_target", "validation_source",
    "validation_target", "test_source", "test_target", "synthetic_source", "synthetic_target", "pair_copies",
    "max_train_pairs", "shuffle", "unknown",
)  # fmt: skip


def data_in_shards(data: DataConfig, folder: Path) -> DataConfig:
    """The settings for the shards of a made corpus.

    Args:
        data: its settings of lengths and batches stay.
        folder: of the shards.
    """
    return _with_defaults(data, corpus="shards", train_shards=str(folder))


def data_in_files(data: DataConfig, source: str, target: str) -> DataConfig:
    """The same settings for the text files of a made corpus."""
    return _with_defaults(data, corpus="files", train_source=source, train_target=target)


def _with_defaults(data: DataConfig, **changes: Any) -> DataConfig:
    defaults = {key: getattr(DataConfig(), key) for key in _SETTINGS_OF_THE_CORPUS}
    return replace(data, **defaults | changes)
