"""What a run learns, from which data: everything that the trainer works with."""

import hashlib
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import (
    BatchPlan,
    Pairs,
    Vocabulary,
    plan_from_config,
    read_corpus,
    select_training_pairs,
    text_lengths,
    training_dataset,
)
from bytenet.run_folder import RunFolder
from bytenet.training.model_pool import ModelPool
from bytenet.training.optimizers.choice import check_optimizer
from bytenet.training.strategies import make_strategy
from bytenet.training.tasks.stream import Stream
from bytenet.training.trainable_model import set_up_keras, wants_jit_compile

SHARE_OF_LONG_TARGETS = 0.01
"""Share of the training targets beyond the length policy above which a warning is given."""


@dataclass(frozen=True)
class Direction:
    """A translator of a run.

    Attributes:
        name: "forward", or "backward" for the other direction.
        config: of the translator's run folder.
        train: the training pairs, as it reads and writes them.
        validation: the validation pairs likewise, if there are any.
        language: that it writes.
        learns: whether the run trains it.
        starts_trained: whether it starts from a trained model.
    """

    name: str
    config: Config
    train: Pairs
    validation: Pairs | None
    language: str
    learns: bool = True
    starts_trained: bool = False


class Task(ABC):
    """A run's data in its batches, its models, and what is measured of them.

    Everything is settled when the task is made, but no model exists yet.

    Args:
        config: of the run.

    Attributes:
        config: as given.
        corpus: with those training pairs that are used.
        left_out: number of training pairs that are not.
        vocabulary: of the pairs.
        lengths: by side ("source", "target") int32 `(pairs,)`, ids of the training pairs, end symbol counted.
        strategy: of the run's devices.
        plan: of the batches of pairs.
        streams: of batches, by name; those of "pairs" make up the epochs.
        total_steps: of the whole training.
        jit_compile: whether XLA compiles the steps.
        columns: of the run's CSV, beside those of every run.

    Raises:
        InputError: the corpus or the configuration cannot be used.
    """

    columns: ClassVar[tuple[str, ...]] = ()

    def __init__(self, config: Config):
        check_optimizer(config.training)
        self.config = config
        corpus = read_corpus(config.data)
        num_read = len(corpus.train)
        self.corpus = replace(corpus, train=select_training_pairs(corpus.train, config.data))
        self.left_out = num_read - len(self.corpus.train)
        self.vocabulary = Vocabulary.from_pairs(self.corpus.train, config.data)
        set_up_keras(config)
        self.strategy = self._make_strategy()
        sides = {"source": self.corpus.train.source, "target": self.corpus.train.target}
        self.lengths = {side: text_lengths(texts, self.vocabulary) for side, texts in sides.items()}
        self.plan = plan_from_config(np.maximum(*self.lengths.values()), config.data, self.replicas)
        self.streams = {"pairs": Stream(self.plan, config.training.seed)} | self._more_streams()
        self.total_steps = min(config.training.epochs * self.plan.num_batches, config.training.max_steps or 2**62)
        num_shapes = max(len(stream.plan.shapes) for stream in self.streams.values())
        self.jit_compile = wants_jit_compile(config, self._can_compile, num_shapes, self.total_steps)

    @property
    def replicas(self) -> int:
        """Number of devices that share each batch."""
        return self.strategy.num_replicas_in_sync

    @property
    def epochs(self) -> int:
        """Number of epochs, of which the last may end early."""
        return -(-self.total_steps // self.plan.num_batches)

    @property
    @abstractmethod
    def directions(self) -> list[Direction]:
        """The translators of the run, in the order of `translators_of`. The first one's folder is the run's."""

    @property
    def learning(self) -> list[Direction]:
        """The translators that learn."""
        return [direction for direction in self.directions if direction.learns]

    @abstractmethod
    def make_model(self, pool: ModelPool) -> keras.Model:
        """The compiled model for `fit`, with weights drawn from the seed; from the pool where one fits."""

    def load_starts(self, model: keras.Model) -> None:  # noqa: B027 - a task may start from nothing
        """Give the translators the weights that they start with, if those are not drawn from the seed."""

    def dataset(self, step: int = 0) -> tf.data.Dataset:
        """Batches as the model takes them, from those after `step` steps on."""
        config = self.config
        epoch, batch = divmod(step, self.plan.num_batches)
        return training_dataset(
            self.corpus.train, self.vocabulary, self.plan, config.training.seed, start_epoch=epoch, start_batch=batch,
            loss=config.training.loss,
        )  # fmt: skip

    def make_folders(self, run_dir: str | os.PathLike[str], resume: bool) -> dict[str, RunFolder]:
        """The run folder of each translator, by direction; those of the others lie in that of the first."""
        first, *others = self.directions
        folder = RunFolder.create(run_dir, first.config, self.vocabulary, resume=resume)
        folders = {first.name: folder}
        for other in others:
            path = folder.path / other.name
            folders[other.name] = RunFolder.create(path, other.config, self.vocabulary, resume=True)
        return folders

    def resumed_config(self, config: Config, begun: Config) -> Config:
        """What a resumed run saves as the configuration of a translator, given that with which the run began."""
        return config

    def messages(self) -> Iterator[str]:
        """What to tell about the task at the start of a training."""
        yield from ()

    def messages_of_resuming(self, folder: RunFolder, begun: Config) -> Iterator[str]:
        """What to tell when a run goes on from a checkpoint."""
        yield from ()

    def data_fingerprint(self) -> str:
        """A digest of everything that decides which batch comes when, but for the seed."""
        digest = hashlib.sha256()
        for plan, sides in self._data():
            digest.update(repr((plan.buckets, plan.replicas, plan.shuffle, plan.shuffle_buffer)).encode())
            _add(digest, *sides)
        return digest.hexdigest()

    def validation_fingerprint(self) -> str:
        """A digest of the validation pairs."""
        digest = hashlib.sha256()
        if pairs := self.corpus.validation:
            _add(digest, pairs.source, pairs.target)
        return digest.hexdigest()

    def _make_strategy(self) -> tf.distribute.Strategy:
        return make_strategy(self.config.training.devices)

    @property
    def _can_compile(self) -> bool:
        """Whether XLA can compile the steps."""
        return self.replicas == 1 and not self.config.training.deterministic

    def _more_streams(self) -> dict[str, Stream]:
        """Streams beside that of the pairs."""
        return {}

    def _data(self) -> list[tuple[BatchPlan, tuple[Sequence[str], ...]]]:
        """The plan of each stream and its texts."""
        return [(self.plan, (self.corpus.train.source, self.corpus.train.target))]


def _add(digest: "hashlib._Hash", *sides: Sequence[str]) -> None:
    for sentence in itertools.chain(*sides):
        digest.update(sentence.encode() + b"\0")
