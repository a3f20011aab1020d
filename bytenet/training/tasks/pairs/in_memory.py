"""The pairs of a run in memory."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import tensorflow as tf

from bytenet.config import Config, DataConfig
from bytenet.datasets import (
    BatchPlan,
    Vocabulary,
    plan_from_config,
    read_corpus,
    training_dataset,
    training_pairs,
)
from bytenet.datasets.batches.share import Share
from bytenet.datasets.text.characters import character_counts
from bytenet.errors import InputError
from bytenet.training.tasks.direction import Side
from bytenet.training.tasks.pairs.stream import MemoryStream
from bytenet.training.tasks.pairs.training_pairs import TrainingPairs, add_planned_texts


class PairsInMemory(TrainingPairs):
    """Pairs that are read, selected and encoded once.

    Args:
        config: of the run.
        vocabulary: of the model that the run starts from; None is the vocabulary of the pairs.
        replicas: number of devices that share each batch, those of all workers together.
        share: this worker's rows of each batch; None for whole batches.

    Raises:
        InputError: the corpus or the configuration cannot be used.
    """

    plan: BatchPlan

    def __init__(self, config: Config, vocabulary: Vocabulary | None, replicas: int, share: Share | None = None):
        corpus = read_corpus(config.data)
        selected = training_pairs(corpus, config.data)
        pairs = selected.epoch
        self._config = config
        self._share = share or Share()
        self.corpus = replace(corpus, train=pairs)
        self.number, self.num_synthetic = len(selected.real), len(selected.synthetic)
        self.left_out = len(corpus.train) - self.number
        self.vocabulary = vocabulary or Vocabulary.from_pairs(selected.once, config.data)
        if self.num_synthetic:
            _check_tag(config.data, self.vocabulary)
        sides: dict[Side, list[str]] = {"source": pairs.source, "target": pairs.target}
        self.lengths = {side: self.vocabulary.encoded_lengths(texts) for side, texts in sides.items()}
        self.length_counts = np.ones(len(pairs), np.int64)
        self.plan = plan_from_config(np.maximum(*self.lengths.values()), config.data, replicas)
        self.stream = MemoryStream(self.plan, config.training.seed, self.lengths["target"])

    def character_counts(self) -> Mapping[str, int]:
        return character_counts(self.corpus.train.source, self.corpus.train.target)

    def dataset(self, epoch: int, batch: int) -> tf.data.Dataset:
        training = self._config.training
        whole_batches = training_dataset(
            self.corpus.train, self.vocabulary, self.plan, training.seed, start_epoch=epoch, start_batch=batch,
            loss=training.loss,
        )  # fmt: skip
        return self._share.of(whole_batches)

    def add_to(self, digest: "hashlib._Hash") -> None:
        add_planned_texts(digest, self.plan, self.corpus.train.source, self.corpus.train.target)


def _check_tag(data: DataConfig, vocabulary: Vocabulary) -> None:
    """Raise an InputError if a model would not see the tag of the synthetic pairs."""
    tag = data.synthetic_tag
    if tag and tag not in vocabulary.characters and vocabulary.unknown != "symbol":
        raise InputError(
            f"The vocabulary does not have {tag!r}, the tag of the synthetic pairs (data.synthetic_tag). Choose one of "
            "its characters that begins no sentence, or null for no tag."
        )
