"""What a run needs to know of the pairs that it learns from."""

import hashlib
import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

from bytenet.datasets import BatchPlan, Corpus, Vocabulary
from bytenet.datasets.batches.epoch_shapes import EpochShapes
from bytenet.training.tasks.direction import Side
from bytenet.training.tasks.pairs.stream import Stream


class TrainingPairs(ABC):
    """The pairs of a run, their vocabulary, and their batches.

    Attributes:
        corpus: that they belong to.
        number: of different pairs that are used, without the synthetic ones.
        num_synthetic: number of synthetic pairs that are used.
        left_out: number of pairs that are not used.
        vocabulary: of the model.
        lengths: by side, int `(n,)`, numbers of ids with the end symbol that a pair has.
        length_counts: int `(n,)`, how many pairs have these lengths.
        plan: of the batches.
        stream: the batches in their order.
    """

    corpus: Corpus
    number: int
    num_synthetic: int
    left_out: int
    vocabulary: Vocabulary
    lengths: dict[Side, np.ndarray]
    length_counts: np.ndarray
    plan: EpochShapes
    stream: Stream

    @abstractmethod
    def character_counts(self) -> Mapping[str, int]:
        """How often each character occurs, on both sides."""

    @abstractmethod
    def dataset(self, epoch: int, batch: int) -> tf.data.Dataset:
        """This worker's rows of endless batches as the model takes them, from a place on."""

    @abstractmethod
    def add_to(self, digest: "hashlib._Hash") -> None:
        """Add all data and settings that decide the batches and their order, without the seed."""


def add_planned_texts(digest: "hashlib._Hash", plan: BatchPlan, *sides: Sequence[str]) -> None:
    """Add texts and the plan of their batches to a digest."""
    digest.update(plan.settings.encode())
    add_texts(digest, *sides)


def add_texts(digest: "hashlib._Hash", *sides: Sequence[str]) -> None:
    """Add texts to a digest."""
    for sentence in itertools.chain(*sides):
        digest.update(sentence.encode() + b"\0")
