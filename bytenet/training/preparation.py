"""What a run trains on, in which batches, where and how often: all that is settled before its model is made."""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import (
    BatchPlan,
    Corpus,
    PlannedBatch,
    Vocabulary,
    plan_from_config,
    read_corpus,
    select_training_pairs,
    text_lengths,
    training_dataset,
)
from bytenet.training.compilation import set_up_keras, wants_jit_compile
from bytenet.training.monolingual import MonolingualText, Side, monolingual_texts, semi_supervised_dataset
from bytenet.training.strategies import make_strategy


class Stream:
    """Endless batches of the pairs or of a monolingual text, in a run's order.

    Args:
        plan: of the batches.
        seed: of their order.

    Attributes:
        plan: as given.
    """

    def __init__(self, plan: BatchPlan, seed: int):
        self.plan = plan
        self._seed = seed
        self._epoch: int | None = None

    def batch_at(self, step: int) -> PlannedBatch:
        """The batch after `step` others."""
        epoch, batch = divmod(step, self.plan.num_batches)
        if epoch != self._epoch:
            self._epoch, self._batches = epoch, self.plan.epoch(self._seed, epoch)
        return self._batches[batch]


@dataclass(frozen=True)
class Preparation:
    """What a run trains on, in which batches, where and how often.

    Attributes:
        config: of the run.
        corpus: with those training pairs that are used.
        left_out: number of training pairs that are not.
        vocabulary: of the pairs.
        lengths: int32 `(pairs,)`, ids of each side of the training pairs, end symbol counted.
        strategy: of the run's devices.
        plan: of the batches of pairs.
        texts: monolingual texts that are learned from; none in a supervised run.
        total_steps: of the whole training.
        jit_compile: whether XLA compiles the steps.
    """

    config: Config
    corpus: Corpus
    left_out: int
    vocabulary: Vocabulary
    lengths: dict[Side, np.ndarray]
    strategy: tf.distribute.Strategy
    plan: BatchPlan
    texts: list[MonolingualText]
    total_steps: int
    jit_compile: bool

    @property
    def replicas(self) -> int:
        """Number of devices that share each batch."""
        return self.strategy.num_replicas_in_sync

    @property
    def epochs(self) -> int:
        """Number of epochs, of which the last may end early."""
        return -(-self.total_steps // self.plan.num_batches)

    @property
    def streams(self) -> dict[str, Stream]:
        """Of batches: "pairs", and the sides of the monolingual texts."""
        of_texts = {text.side: Stream(text.plan, text.seed) for text in self.texts}
        return {"pairs": Stream(self.plan, self.config.training.seed), **of_texts}

    def dataset(self, step: int = 0) -> tf.data.Dataset:
        """Batches as the run's model takes them, from those after `step` steps on.

        Of a supervised run as `training_dataset` gives them, of another as `semi_supervised_dataset` does.
        """
        config = self.config
        epoch, batch = divmod(step, self.plan.num_batches)
        loss, seed = config.training.loss, config.training.seed
        pairs = training_dataset(
            self.corpus.train, self.vocabulary, self.plan, seed, start_epoch=epoch, start_batch=batch, loss=loss
        )
        if not config.semi_supervised.enabled:
            return pairs
        return semi_supervised_dataset(pairs, self.texts, self.vocabulary, loss, step)

    def data_fingerprint(self) -> str:
        """A digest of everything that decides which batch comes when, but for the seed."""
        digest = hashlib.sha256()
        pairs = self.corpus.train
        streams = [(self.plan, (pairs.source, pairs.target))]
        streams += [(text.plan, (text.selected.texts,)) for text in self.texts]
        for plan, sides in streams:
            digest.update(repr((plan.buckets, plan.replicas, plan.shuffle, plan.shuffle_buffer)).encode())
            _add(digest, *sides)
        return digest.hexdigest()

    def validation_fingerprint(self) -> str:
        """A digest of the validation pairs."""
        digest = hashlib.sha256()
        if pairs := self.corpus.validation:
            _add(digest, pairs.source, pairs.target)
        return digest.hexdigest()


def _add(digest: "hashlib._Hash", *sides: Sequence[str]) -> None:
    for sentence in itertools.chain(*sides):
        digest.update(sentence.encode() + b"\0")


def prepare(config: Config) -> Preparation:
    """Read a run's data, plan its batches and set Keras up for it.

    Raises:
        InputError: the corpus or the configuration cannot be used.
    """
    corpus = read_corpus(config.data)
    num_read = len(corpus.train)
    corpus = replace(corpus, train=select_training_pairs(corpus.train, config.data))
    vocabulary = Vocabulary.from_pairs(corpus.train, config.data)
    set_up_keras(config)
    semi = config.semi_supervised
    strategy = make_strategy(config.training.devices, apart=semi.enabled and semi.placement == "apart")
    replicas = strategy.num_replicas_in_sync
    sides: dict[Side, list[str]] = {"source": corpus.train.source, "target": corpus.train.target}
    lengths = {side: text_lengths(texts, vocabulary) for side, texts in sides.items()}
    plan = plan_from_config(np.maximum(*lengths.values()), config.data, replicas)
    texts = monolingual_texts(corpus, config, vocabulary, lengths, replicas) if semi.enabled else []
    total_steps = min(config.training.epochs * plan.num_batches, config.training.max_steps or 2**62)
    num_shapes = max(len(one.shapes) for one in (plan, *(text.plan for text in texts)))
    return Preparation(
        config=config, corpus=corpus, left_out=num_read - len(corpus.train), vocabulary=vocabulary,
        lengths=lengths, strategy=strategy, plan=plan, texts=texts, total_steps=total_steps,
        jit_compile=wants_jit_compile(config, strategy, num_shapes, total_steps),
    )  # fmt: skip
