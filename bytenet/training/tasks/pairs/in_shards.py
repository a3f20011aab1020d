"""The pairs of a run in shards on disk."""

import hashlib
from collections.abc import Mapping

import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import Vocabulary, read_corpus
from bytenet.datasets.batches.share import Share
from bytenet.datasets.shards.dataset import shard_dataset
from bytenet.datasets.shards.folder import ShardFolder
from bytenet.datasets.shards.plan import ShardPlan, is_within, plan_shards
from bytenet.errors import ConfigError, InputError
from bytenet.training.tasks.pairs.stream import ShardStream
from bytenet.training.tasks.pairs.training_pairs import TrainingPairs

_MOST_SHOWN = 5  # unknown characters in a message


class PairsInShards(TrainingPairs):
    """Pairs of which a few shards are in memory at a time.

    The vocabulary has the characters of all pairs in the shards, also of those that the limits of lengths leave out.

    Args:
        config: of the run, with `data.train_shards`.
        vocabulary: of the model that the run starts from; None is the vocabulary of the shards.
        replicas: number of devices that share each batch, those of all workers together.
        share: this worker's rows of each batch, which come from its own shards; None for whole batches.

    Raises:
        ConfigError: the run needs its training pairs in memory.
        InputError: the shards or the configuration cannot be used.
    """

    plan: ShardPlan

    def __init__(self, config: Config, vocabulary: Vocabulary | None, replicas: int, share: Share | None = None):
        data = config.data
        assert data.train_shards is not None
        _check_fits_shards(config)
        self._config = config
        self._share = share or Share()
        self.corpus = read_corpus(data)
        self._folder = ShardFolder.open(data.train_shards)
        self._folder.check()
        self.vocabulary = vocabulary or Vocabulary.from_counts(
            self._folder.characters(), data.unknown, data.min_character_count
        )
        _check_characters(self._folder, self.vocabulary, has_start=vocabulary is not None)
        self.plan = plan_shards(self._folder, data, replicas, self._share.workers)
        self.stream = ShardStream(self.plan, config.training.seed, target_side=0 if data.reversed else 1)
        counts_of_lengths = self._folder.lengths()
        used = is_within(counts_of_lengths, data.min_length, data.max_length)
        sides = counts_of_lengths.source[used] + 1, counts_of_lengths.target[used] + 1
        source, target = sides[::-1] if data.reversed else sides
        self.lengths = {"source": source, "target": target}
        self.length_counts = counts_of_lengths.pairs[used]
        self.number = int(self.length_counts.sum())
        self.num_synthetic = 0
        self.left_out = len(self._folder) - self.number

    def character_counts(self) -> Mapping[str, int]:
        return self._folder.characters()

    def dataset(self, epoch: int, batch: int) -> tf.data.Dataset:
        training = self._config.training
        return shard_dataset(
            self.plan, self.vocabulary, training.seed, epoch, batch, training.loss, self._config.data.reversed,
            self._share.worker,
        )  # fmt: skip

    def add_to(self, digest: "hashlib._Hash") -> None:
        digest.update(self.plan.text_with(self.plan.workers, self.plan.limits).encode())
        digest.update(f"{self._folder.fingerprint()} {self._config.data.reversed}".encode())


def _check_characters(folder: ShardFolder, vocabulary: Vocabulary, has_start: bool) -> None:
    """Raise an InputError if characters are unknown that must be known. The training would find the first one late."""
    if vocabulary.unknown != "error":
        return
    if unknown := folder.characters().keys() - set(vocabulary.characters):
        shown = ", ".join(map(repr, sorted(unknown)[:_MOST_SHOWN]))
        advice = "Set data.unknown to symbol, or data.min_character_count to 1."
        if has_start:
            advice = "The model of training.start refuses unknown characters. Start from another one, or from none."
        raise InputError(
            f"The vocabulary does not have {len(unknown):,} of the characters in the shards, also in pairs that are "
            f"left out for their length: {shown}{', ...' if len(unknown) > _MOST_SHOWN else ''}. {advice}"
        )


def _check_fits_shards(config: Config) -> None:
    if config.semi_supervised.enabled:
        raise ConfigError(
            "semi_supervised.enabled needs the pairs in memory, but data.corpus is shards. Set data.corpus to files "
            "and give two text files, or set semi_supervised.enabled to false."
        )
    if config.evaluation.continuous_train:
        raise ConfigError(
            "evaluation.continuous_train draws from training pairs in memory, but data.corpus is shards. Set it to "
            "false."
        )
