"""A small corpus, its shards, and the pairs that are in them."""

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from bytenet.datasets.shards.folder import ShardFolder
from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus
from bytenet.datasets.shards.side_file import ShardPaths

NUMBER = 600


def _sentences(random, number):
    words = ["ein", "Haus", "für", "die", "Größe", "x", "日本", "😀!"]
    return [" ".join(random.choice(words, random.integers(1, 9))) + f" {index}" for index in range(number)]


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    """Different pairs that no filter leaves out."""
    random = np.random.default_rng(0)
    return [(text, f"{text}.") for text in _sentences(random, NUMBER)]


@pytest.fixture(scope="session")
def text_files(pairs, tmp_path_factory) -> tuple[str, str]:
    """The pairs as two files, one of them compressed."""
    folder = tmp_path_factory.mktemp("text")
    source, target = folder / "text.de.gz", folder / "text.en"
    source.write_bytes(gzip.compress("".join(f"{source}\n" for source, _ in pairs).encode()))
    target.write_text("".join(f"{target}\n" for _, target in pairs), encoding="utf-8")
    return str(source), str(target)


@pytest.fixture(scope="session")
def shards(text_files, tmp_path_factory) -> ShardFolder:
    """The pairs in four shards."""
    folder = tmp_path_factory.mktemp("shards")
    shard_corpus(text_files, folder, shards=4, duplicates_megabytes=1, processes=0)
    return ShardFolder.open(folder)


@pytest.fixture(scope="session")
def read_pairs():
    """Read all pairs of a shard with TensorFlow's own reader."""

    def read(path: Path) -> list[tuple[str, ...]]:
        records = tf.data.TFRecordDataset(str(path), "GZIP").as_numpy_iterator()
        return [tuple(record.decode().split("\n")) for record in records]

    return read


@pytest.fixture(scope="session")
def write_checksums():
    """Make the checksums in the side file of a shard those of its files."""

    def write(paths: ShardPaths) -> None:
        side = json.loads(paths.side.read_text())
        for name, path in (("sha256", paths.records), ("lengths_sha256", paths.lengths)):
            side[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        paths.side.write_text(json.dumps(side))

    return write
