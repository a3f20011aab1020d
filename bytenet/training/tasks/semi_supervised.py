"""Training of a forward and a backward translator on pairs and monolingual text."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import BatchPlan
from bytenet.errors import ConfigError
from bytenet.run_folder import RunFolder
from bytenet.training.model_pool import ModelPool
from bytenet.training.strategies import check_devices
from bytenet.training.tasks.monolingual_text import (
    MonolingualText,
    directions_taught,
    directions_trained,
    monolingual_texts,
    semi_supervised_dataset,
    weighted_texts,
)
from bytenet.training.tasks.starts import load_starts
from bytenet.training.tasks.stream import Stream
from bytenet.training.tasks.task import SHARE_OF_LONG_TARGETS, Direction, Task
from bytenet.training.tasks.trainable_pair import devices_apart, make_trainable_pair
from bytenet.training.translators import translators_of


class SemiSupervisedTask(Task):
    """Two translators, there and back, learn from pairs and from monolingual text, see `TranslatorPair`.

    Attributes:
        texts: the monolingual texts that are learned from.
    """

    columns = (
        "backward_loss", "source_marginal", "target_marginal", "val_backward_loss", "val_backward_bleu",
        "val_backward_chrf", "val_backward_misclassification",
    )  # fmt: skip
    texts: list[MonolingualText]

    @property
    def directions(self) -> list[Direction]:
        config, corpus, semi = self.config, self.corpus, self.config.semi_supervised
        backward_config = replace(
            config,
            data=replace(config.data, reversed=not config.data.reversed),
            semi_supervised=replace(semi, enabled=False),
        )
        forth = config, corpus.train, corpus.validation, corpus.target_language
        validation = corpus.validation and corpus.validation.reversed()
        back = backward_config, corpus.train.reversed(), validation, corpus.source_language
        learning = directions_trained(semi)
        return [
            Direction(name, *of_direction, learns=name in learning, starts_trained=semi.starts[name] is not None)
            for name, of_direction in (("forward", forth), ("backward", back))
        ]

    def make_model(self, pool: ModelPool) -> keras.Model:
        config, vocabulary, semi = self.config, self.vocabulary, self.config.semi_supervised
        sides = tuple(text.side for text in self.texts)
        pair = pool.model(
            config, (self.jit_compile, vocabulary.size, vocabulary.unknown, sides),
            lambda: make_trainable_pair(
                config, vocabulary, self.strategy, self.jit_compile, self.total_steps, sides
            ),
        )  # fmt: skip
        pair.set_texts(semi, {text.side: text.search_lengths for text in self.texts})
        return pair

    def load_starts(self, model: keras.Model) -> None:
        load_starts(translators_of(model), self.config, self.vocabulary)

    def dataset(self, step: int = 0) -> tf.data.Dataset:
        pairs = super().dataset(step)
        return semi_supervised_dataset(pairs, self.texts, self.vocabulary, self.config.training.loss, step)

    def resumed_config(self, config: Config, begun: Config) -> Config:
        """The same, with the runs that the training started from: the weights of a checkpoint come from those."""
        starts = {f"start_{name}": start for name, start in begun.semi_supervised.starts.items()}
        return replace(config, semi_supervised=replace(config.semi_supervised, **starts))

    def messages(self) -> Iterator[str]:
        semi = self.config.semi_supervised
        for text in self.texts:
            yield (
                f"monolingual {text.side} text: {len(text.selected.texts):,} sentences "
                f"({text.selected.outside_limits:,} left out by data.min_length and max_length, "
                f"{text.selected.unknown_characters:,} for characters that are not in the vocabulary); "
                f"{text.plan.num_batches:,} batches once round; {text.plan.describe_shapes()}; translations of up to "
                f"{max(text.search_lengths.values())} symbols are searched; teaches the "
                f"{' and '.join(directions_taught(text.side, semi))} translator"
            )
        for side in weighted_texts(self.corpus, semi):
            if side not in self.streams:
                yield (
                    f"monolingual {side} text: not used; with semi_supervised.objective {semi.objective} and trained "
                    f"{semi.trained} nothing is learned from it"
                )
        if not self.texts:
            yield (
                "warning: nothing is learned from monolingual text, only from the pairs. It takes text, as "
                "data.monolingual_source or data.monolingual_target or of the corpus's own, and "
                "semi_supervised.source_weight or target_weight above 0."
            )
        yield from self._warnings_of_short_searches()

    def messages_of_resuming(self, folder: RunFolder, begun: Config) -> Iterator[str]:
        if begun.semi_supervised.starts != self.config.semi_supervised.starts:
            yield f"the weights come from it, and not from other runs; {folder.config_path} keeps its starts"

    def _make_strategy(self) -> tf.distribute.Strategy:
        if self.config.semi_supervised.placement != "apart":
            return super()._make_strategy()
        devices = self.config.training.devices
        if len(devices or ()) != 2:
            raise ConfigError(
                'semi_supervised.placement: apart needs two training.devices, such as ["GPU:0", "GPU:1"]; found '
                f"{devices if devices is None else list(devices)}."
            )
        check_devices(devices)
        return tf.distribute.get_strategy()  # each translator is made on its own device and takes whole batches

    @property
    def _can_compile(self) -> bool:
        return super()._can_compile and not devices_apart(self.config)

    def _more_streams(self) -> dict[str, Stream]:
        self.texts = monolingual_texts(self.corpus, self.config, self.vocabulary, self.lengths, self.replicas)
        return {text.side: Stream(text.plan, text.seed) for text in self.texts}

    def _data(self) -> list[tuple[BatchPlan, tuple[Sequence[str], ...]]]:
        return [*super()._data(), *((text.plan, (text.selected.texts,)) for text in self.texts)]

    def _warnings_of_short_searches(self) -> Iterator[str]:
        """Where the length policy cuts off the translations of text: no pair tells how long they should be."""
        if not self.config.model.length_policy.pads_to_pair:
            return
        for text in self.texts:
            other = "source" if text.side == "target" else "target"
            padded = np.array(sorted(text.search_lengths))  # which this policy searches as far as
            places = np.searchsorted(padded, self.lengths[text.side])
            known = places < len(padded)  # no longer than the longest text
            too_long = np.mean(self.lengths[other][known] > padded[places[known]]) if known.any() else 0.0
            if too_long > SHARE_OF_LONG_TARGETS:
                yield (
                    f"warning: translations of monolingual {text.side} text are searched no longer than the text "
                    f"(model.length_rule: pair), but {too_long:.1%} of the training {other}s are longer than their "
                    f"{text.side}s. With semi_supervised.{text.side}_weight 0 nothing is learned from such stumps; "
                    "with model.length_rule unfold they have room."
                )
