"""Training of a forward and a backward translator on pairs and monolingual text."""

import hashlib
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import Vocabulary
from bytenet.datasets.batches.share import Share
from bytenet.errors import ConfigError
from bytenet.training.compiled_models.model_pool import ModelPool
from bytenet.training.distribution.agreement import Agreement
from bytenet.training.distribution.replicated_step import replicated_step
from bytenet.training.distribution.strategies import check_devices
from bytenet.training.distribution.workers import Workers
from bytenet.training.metrics import SCORES, loss_name, score_name
from bytenet.training.tasks.direction import DIRECTIONS, Direction, Side, directions_taught, directions_trained
from bytenet.training.tasks.monolingual_text import (
    MonolingualText,
    monolingual_texts,
    semi_supervised_dataset,
    weighted_texts,
)
from bytenet.training.tasks.pairs.stream import MemoryStream, Stream
from bytenet.training.tasks.pairs.training_pairs import add_planned_texts
from bytenet.training.tasks.task import SHARE_OF_LONG_TARGETS, Task
from bytenet.training.tasks.trainable_pair import devices_apart, make_trainable_pair


class SemiSupervisedTask(Task):
    """A forward and a backward translator learn from pairs and from monolingual text, see `TranslatorPair`.

    Attributes:
        texts: the monolingual texts that teach a translator.
    """

    columns = (
        loss_name("backward", is_first=False), "source_marginal", "target_marginal",
        *(score_name(score, "backward", is_first=False) for score in SCORES),
    )  # fmt: skip
    untraced = (
        *Task.untraced, "semi_supervised.source_weight", "semi_supervised.target_weight", "semi_supervised.start_",
    )  # fmt: skip
    texts: list[MonolingualText]

    def __init__(self, config: Config, vocabulary: Vocabulary | None = None, workers: Workers | None = None):
        if config.training.accumulate_batches > 1:
            raise ConfigError(
                f"training.accumulate_batches is {config.training.accumulate_batches}, but should be 1 with "
                "semi_supervised.enabled: the pairs and each text have their own numbers of sentences, so one weight "
                "of a batch does not give the update of a larger batch. Set a larger data.batch_size and "
                "semi_supervised.batch_size instead."
            )
        if config.data.synthetic_source is not None:
            raise ConfigError(
                "data.synthetic_source is for training on pairs alone: the backward translator would learn to write "
                "what a machine wrote. Leave it out, or set semi_supervised.enabled to false."
            )
        super().__init__(config, vocabulary, workers)

    @property
    def directions(self) -> list[Direction]:
        config, corpus, semi = self.config, self.corpus, self.config.semi_supervised
        learning, starts = directions_trained(semi), semi.starts
        backward_config = replace(
            config,
            data=replace(config.data, reversed=not config.data.reversed),
            semi_supervised=replace(semi, enabled=False),
            decoding=replace(config.decoding, rerank_with=None),  # a reranker of the other direction
        )
        forward = Direction(
            "forward", config, corpus.train, corpus.validation, corpus.target_language,
            learns="forward" in learning, starts_trained=starts["forward"] is not None,
        )  # fmt: skip
        backward = Direction(
            "backward", backward_config, corpus.train.reversed(), corpus.validation and corpus.validation.reversed(),
            corpus.source_language, reads="target", writes="source",
            learns="backward" in learning, starts_trained=starts["backward"] is not None,
        )  # fmt: skip
        return [forward, backward]

    def translators(self, model: keras.Model) -> dict[str, keras.Model]:
        return {name: model.translator(name) for name in DIRECTIONS}

    def make_model(self, pool: ModelPool) -> keras.Model:
        pair = super().make_model(pool)
        pair.set_texts(self.config.semi_supervised, {text.side: text.search_lengths for text in self.texts})
        return pair

    @property
    def model_key(self) -> tuple[Hashable, ...]:
        return *super().model_key, self._sides

    def dataset(self, step: int = 0) -> tf.data.Dataset:
        pairs = super().dataset(step)
        batches = semi_supervised_dataset(pairs, self.texts, self.vocabulary, self.config.training.loss, step)
        return self.workers.share.of(batches)

    def replicated_step(self, model: keras.Model, agreement: Agreement) -> Callable[[Any], dict[str, Any]]:
        # Searches need to know the length of a batch.
        step = replicated_step(self.strategy, model.replica_step, agreement, relax_shapes=False)
        return lambda batches: step(*model.next_batch(batches))

    def messages(self) -> Iterator[str]:
        yield from super().messages()
        semi = self.config.semi_supervised
        for text in self.texts:
            yield (
                f"monolingual {text.side} text: {len(text.selected.texts):,} sentences "
                f"({text.selected.outside_limits:,} left out by data.min_length and max_length, "
                f"{text.selected.unknown_characters:,} for characters that are not in the vocabulary); "
                f"{text.plan.num_batches:,} batches a round; {text.plan.describe_shapes()}; "
                f"searches for translations of up to {max(text.search_lengths.values())} symbols; teaches the "
                f"{' and '.join(directions_taught(text.side, semi))} translator"
            )
        for side in weighted_texts(self.corpus, semi):
            if side not in self.streams:
                yield (
                    f"monolingual {side} text: not used, because it teaches nothing with semi_supervised.objective "
                    f"{semi.objective} and semi_supervised.trained {semi.trained}"
                )
        if not self.texts:
            yield (
                "warning: the training has pairs but no monolingual text. Set data.monolingual_source or "
                "data.monolingual_target, or choose a corpus with such text; and set semi_supervised.source_weight or "
                "target_weight above 0."
            )
        yield from self._warnings_of_short_searches()

    @property
    def _share_of_pairs(self) -> Share:
        return Share()  # the weights of both directions are taken from whole batches

    def _make_strategy(self) -> tf.distribute.Strategy:
        if self.config.semi_supervised.placement != "apart":
            strategy = super()._make_strategy()
            self._check_statistics(strategy.num_replicas_in_sync)
            return strategy
        devices = self.config.training.devices
        if self.workers.count > 1:
            raise ConfigError(
                f"semi_supervised.placement is apart, but {self.workers.count} workers train together. Set it to "
                "replicated: each worker then trains both translators on its rows of each batch."
            )
        if devices is None or len(devices) != 2:
            raise ConfigError(
                "semi_supervised.placement: apart needs two devices, but training.devices is "
                f'{devices if devices is None else list(devices)}. Set it, for example to ["GPU:0", "GPU:1"].'
            )
        check_devices(devices)
        return tf.distribute.get_strategy()  # each translator is made on its own device and takes whole batches

    def _check_statistics(self, replicas: int) -> None:
        """Raise a ConfigError if the translators of several replicas would have statistics of their own."""
        if replicas > 1 and not self.config.training.sync_batch_norm:
            raise ConfigError(
                "training.sync_batch_norm is false, but semi-supervised training uses several devices or workers, "
                "whose translators must have the same statistics. Leave it out."
            )

    @property
    def _obstacle_to_compiling(self) -> str | None:
        if self.replicas > 1 or devices_apart(self.config):
            return "semi-supervised training uses several devices. Use one (training.devices)"
        return super()._obstacle_to_compiling

    def _make_model(self) -> keras.Model:
        return make_trainable_pair(
            self.config, self.vocabulary, self.strategy, self.jit_compile, self.total_updates, self._sides
        )

    @property
    def _sides(self) -> tuple[Side, ...]:
        return tuple(text.side for text in self.texts)

    def _more_streams(self) -> dict[str, Stream]:
        self.texts = monolingual_texts(self.corpus, self.config, self.vocabulary, self.pairs.lengths, self.replicas)
        return {text.side: MemoryStream(text.plan, text.seed) for text in self.texts}

    def _add_more_data(self, digest: "hashlib._Hash") -> None:
        for text in self.texts:
            add_planned_texts(digest, text.plan, text.selected.texts)

    def _warnings_of_short_searches(self) -> Iterator[str]:
        """Warnings about text whose translations would be longer than the search may write."""
        if not self.config.model.length_policy.pads_to_pair:
            return
        for text in self.texts:
            other: Side = "source" if text.side == "target" else "target"
            limits = np.array(sorted(text.search_lengths))  # this policy searches as far as a text is padded
            places = np.searchsorted(limits, self.pairs.lengths[text.side])
            fits = places < len(limits)
            too_long = np.mean(self.pairs.lengths[other][fits] > limits[places[fits]]) if fits.any() else 0.0
            if too_long > SHARE_OF_LONG_TARGETS:
                yield (
                    f"warning: translations of monolingual {text.side} text are cut off at the length of the text "
                    f"(model.length_rule: pair), but {too_long:.1%} of the training {other}s are longer than their "
                    f"{text.side}s. Set semi_supervised.{text.side}_weight to 0, so that nothing is learned from "
                    "translations that are cut off; or set model.length_rule to unfold, which gives them room."
                )
