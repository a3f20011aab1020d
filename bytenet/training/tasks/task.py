"""What a run learns, and from which data: everything that the trainer works with."""

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from typing import Any, ClassVar

import keras
import tensorflow as tf

from bytenet.config import Config
from bytenet.config.settings_without_effect import settings_without_effect
from bytenet.datasets import Vocabulary, pair_lengths
from bytenet.datasets.batches.share import Share
from bytenet.datasets.corpora.preparation.lookup import how_to_give_validation_pairs
from bytenet.errors import ConfigError
from bytenet.run_folder import RunFolder
from bytenet.training.checkpoints import training_variables
from bytenet.training.compiled_models.compilation import check_trainable
from bytenet.training.compiled_models.model_pool import ModelPool
from bytenet.training.compiled_models.trainable_model import check_longest, set_up_keras, wants_jit_compile
from bytenet.training.distribution.agreement import Agreement
from bytenet.training.distribution.strategies import make_strategy
from bytenet.training.distribution.workers import Workers
from bytenet.training.messages.warnings import training_warnings
from bytenet.training.optimizers.keras_classes import check_optimizer
from bytenet.training.starts import describe_starts, load_starts
from bytenet.training.tasks.direction import Direction
from bytenet.training.tasks.pairs.in_memory import PairsInMemory
from bytenet.training.tasks.pairs.in_shards import PairsInShards
from bytenet.training.tasks.pairs.stream import Stream
from bytenet.training.tasks.pairs.training_pairs import TrainingPairs, add_texts

SHARE_OF_LONG_TARGETS = 0.01
"""A warning is given if a larger share of the training targets is longer than the model may write."""


class Task(ABC):
    """The data of a run in batches, its models, and what is measured.

    Everything but the models is settled when the task is made.

    Args:
        config: of the run.
        vocabulary: see `make_task`.
        workers: that train together; None if this process trains alone.

    Attributes:
        config: as given.
        pairs: that the run learns from.
        corpus: with those training pairs, if they are in memory.
        vocabulary: of the model.
        workers: the workers of the run.
        strategy: of the devices of all workers.
        plan: of the batches of pairs.
        streams: of batches, by name. An epoch is one round of the stream "pairs".
        total_steps: of the whole training; a step is a batch.
        jit_compile: whether XLA compiles the steps.
        columns: of the run's CSV, beside those of every run.
        untraced: beginnings of the keys of settings on which no traced step depends.

    Raises:
        InputError: the corpus or the configuration cannot be used.
    """

    columns: ClassVar[tuple[str, ...]] = ()
    untraced: ClassVar[tuple[str, ...]] = (
        "data.", "evaluation.", "decoding.", "training.seed", "training.epochs", "training.max_steps",
        "training.keep_model", "training.early_stopping_", "training.checkpoint_every_", "training.keep_checkpoints",
        "training.plateau_", "training.min_learning_rate", "training.start", "training.added_sets",
    )  # fmt: skip

    def __init__(self, config: Config, vocabulary: Vocabulary | None = None, workers: Workers | None = None):
        check_optimizer(config.training)
        check_trainable(config)
        self.config = config
        self.workers = workers or Workers()
        set_up_keras(config)
        # Before the corpus: reading text may start TensorFlow, and then it is too late to make logical devices.
        self.strategy = self._make_strategy()
        kind = PairsInShards if config.data.corpus == "shards" else PairsInMemory
        self.pairs: TrainingPairs = kind(config, vocabulary, self.replicas, self._share_of_pairs)
        self.corpus, self.vocabulary, self.plan = self.pairs.corpus, self.pairs.vocabulary, self.pairs.plan
        self._check_plateau()
        if self.corpus.validation and self.vocabulary.unknown == "error":
            pair_lengths(self.corpus.validation, self.vocabulary)  # raises the error before the folder is made
        self.streams = {"pairs": self.pairs.stream} | self._more_streams()
        plans = [stream.plan for stream in self.streams.values()]
        check_longest(config, plans, self.corpus.validation, self.vocabulary)
        self.total_steps = config.training.total_steps(self.plan.num_batches)
        num_shapes = max(len(plan.shapes) for plan in plans)
        self.jit_compile = wants_jit_compile(config, self._obstacle_to_compiling, num_shapes, self.total_steps)

    @property
    def replicas(self) -> int:
        """Number of devices that share each batch."""
        return self.strategy.num_replicas_in_sync

    @property
    def epochs(self) -> int:
        """Number of epochs. The last one may end early."""
        return -(-self.total_steps // self.plan.num_batches)

    @property
    def updates_per_epoch(self) -> int:
        """Updates of the weights in an epoch."""
        return self.config.training.updates_per_epoch(self.plan.num_batches)

    @property
    def total_updates(self) -> int:
        """Updates of the weights in the whole training."""
        return self.config.training.total_updates(self.plan.num_batches)

    @property
    def cuts_at_plateaus(self) -> bool:
        """Whether the scores on the validation pairs decide about the learning rate."""
        return self.config.training.schedule == "plateau"

    @property
    @abstractmethod
    def directions(self) -> list[Direction]:
        """The translators of the run. The folder of the first one is the folder of the run."""

    @property
    def learning(self) -> list[Direction]:
        """The translators that learn."""
        return [direction for direction in self.directions if direction.learns]

    @abstractmethod
    def translators(self, model: keras.Model) -> dict[str, keras.Model]:
        """The translators in the model of `make_model`, by direction. Each has an optimiser of its own."""

    def make_model(self, pool: ModelPool) -> keras.Model:
        """The compiled model for `fit`, with all its variables as the seed makes them.

        Args:
            pool: keeps the model. A run of the same shape gets the same model, and all its variables get new values:
                weights, random states, optimisers and metrics.
        """
        fresh = self._make_model()
        model = pool.keep(self.model_key, lambda: fresh)
        translators, fresh_translators = self.translators(model), self.translators(fresh)
        if model is not fresh:
            new_values = training_variables(fresh, [*fresh_translators.values()])
            for name, variable in training_variables(model, [*translators.values()]).items():
                variable.assign(new_values[name])
        for translator in translators.values():
            translator.optimizer.schedule.begin_run(self.total_updates, self.updates_per_epoch)
        return model

    @property
    def model_key(self) -> tuple[Hashable, ...]:
        """What the traced steps depend on. Runs with equal keys can use one model."""
        settings = {key: value for key, value in self.config.settings().items() if not key.startswith(self.untraced)}
        return type(self), repr(settings), self.jit_compile, self.vocabulary.size, self.vocabulary.unknown

    def load_starts(self, model: keras.Model) -> None:
        """Give the translators the weights that they start with, if those are not drawn from the seed."""
        load_starts(self.translators(model), self.config, self.vocabulary)

    def dataset(self, step: int = 0) -> tf.data.Dataset:
        """This worker's rows of batches as the model takes them, beginning with the batch after `step` others."""
        return self.pairs.dataset(*divmod(step, self.plan.num_batches))

    @abstractmethod
    def replicated_step(self, model: keras.Model, agreement: Agreement) -> Callable[[Any], dict[str, Any]]:
        """The function that `fit` calls for each step on several replicas: iterator over batches → measurements."""

    def make_folders(self, run_dir: str | os.PathLike[str], resume: bool) -> dict[str, RunFolder]:
        """The run folder of each translator, by direction. The first one's folder holds the others."""
        first, *others = self.directions
        folder = RunFolder.create(run_dir, first.config, self.vocabulary, resume=resume)
        folders = {first.name: folder}
        for other in others:
            path = folder.path / other.name
            folders[other.name] = RunFolder.create(path, other.config, self.vocabulary, resume=True)
        return folders

    def messages(self) -> Iterator[str]:
        """Messages about the task for the start of a training."""
        yield from (f"warning: {sentence}" for sentence in settings_without_effect(self.config))
        yield from training_warnings(self.config.training, self.plan.num_batches, self.replicas)

    def messages_of_starting(self) -> Iterator[str]:
        """Messages for a run that does not go on from a checkpoint."""
        if self.config.has_start:
            yield describe_starts(self.config, self.vocabulary, self.pairs.character_counts())

    def data_fingerprint(self) -> str:
        """A digest of all data and settings that decide the batches and their order, without the seed."""
        digest = hashlib.sha256()
        self.pairs.add_to(digest)
        self._add_more_data(digest)
        return digest.hexdigest()

    def validation_fingerprint(self) -> str:
        """A digest of the validation pairs."""
        digest = hashlib.sha256()
        if pairs := self.corpus.validation:
            add_texts(digest, pairs.source, pairs.target)
        return digest.hexdigest()

    @property
    def _share_of_pairs(self) -> Share:
        """The rows of each batch of pairs that are made here."""
        return self.workers.share

    def _make_strategy(self) -> tf.distribute.Strategy:
        devices = self.config.training.devices
        self.workers.check_devices(devices)
        return self.workers.strategy or make_strategy(devices)

    def _check_plateau(self) -> None:
        """Raise a ConfigError if the learning rate depends on validation pairs, but there are none."""
        if self.cuts_at_plateaus and not self.corpus.validation:
            raise ConfigError(
                "training.schedule: plateau cuts the learning rate by the scores on the validation pairs, but there "
                f"are none. {how_to_give_validation_pairs(self.config.data)} Or choose another training.schedule, "
                "such as inverse_sqrt or step."
            )

    @property
    def _obstacle_to_compiling(self) -> str | None:
        """Why XLA cannot compile the steps, and what to change; None if it can."""
        if self.config.training.deterministic:
            return "training.deterministic is true, which forbids it. Set it to false"
        if self.replicas > 1 and self.config.has_joint_statistics:
            return (
                f"batch normalisation takes its statistics over all {self.replicas} devices, which wait for each other "
                "within the step. Choose layer normalisation (model.encoder_normalization: layer), the variant selu, "
                "or statistics of each device (training.sync_batch_norm: false)"
            )
        return None

    @abstractmethod
    def _make_model(self) -> keras.Model:
        """A new model for `fit`."""

    def _more_streams(self) -> dict[str, Stream]:
        """Streams beside the pairs."""
        return {}

    def _add_more_data(self, digest: "hashlib._Hash") -> None:  # noqa: B027 - a task may have nothing but pairs
        """Add the data beside the pairs to a digest."""
