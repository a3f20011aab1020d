"""Narrow models of all families and variants, with random weights everywhere."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config import ModelConfig
from bytenet.config.families import family_configs
from bytenet.models import TranslationModel, build_model

VOCAB_SIZE = 11
# Sizes that keep models narrow; each counts where a family has such a setting.
NARROW = {"dim": 8, "num_sets": 1, "dilations": (1, 2, 4), "num_layers": 1}
# Settings of a family, beside its variants, that change how it computes.
MORE_CASES = {
    "bytenet": {
        "add": {"join": "add"},
        "simplified, add, pair": {"variant": "simplified", "join": "add", "length_rule": "pair"},
        "pair": {"length_rule": "pair"},
        "unfold twice": {"unfold_scale": 2.0, "unfold_offset": 0},
        "unfold half": {"unfold_scale": 0.5, "unfold_offset": 0},
        "one tap": {"decoder_kernel_size": 1},
        "four taps": {"decoder_kernel_size": 4},
        "two sets": {"num_sets": 2},
        "any order of dilations": {"dilations": (3, 1, 1, 5)},
    },
    "attention": {"two layers": {"num_layers": 2}},
}


class Case(NamedTuple):
    """A configuration that every promise is tested with."""

    name: str
    config: ModelConfig


def _cases() -> list[Case]:
    cases = []
    for family, config_class in family_configs().items():
        names = {field.name for field in fields(config_class)}
        narrow = {key: value for key, value in NARROW.items() if key in names}
        settings = {variant: {"variant": variant} for variant in config_class.VARIANTS}
        settings |= {"as in the thesis": {"settings": "thesis"}} if config_class.THESIS else {}
        settings |= MORE_CASES.get(family, {})
        cases += [Case(f"{family}: {name}", config_class(**(narrow | given))) for name, given in settings.items()]
    return cases


CASES = _cases()


def randomize(model: TranslationModel, seed: int = 0) -> None:
    """Weights that make every part matter: no bias, offset or running mean is zero, and logits are of size 1."""
    random = np.random.default_rng(seed)
    for weight in model.weights:
        shape = tuple(weight.shape)
        if "kernel" in weight.name:
            values = random.normal(scale=1.2 * np.prod(shape[:-1]) ** -0.5, size=shape)
        elif weight.name == "moving_variance":
            values = random.uniform(0.5, 2.0, size=shape)
        else:
            values = random.normal(scale=0.5, size=shape)
        weight.assign(values)


class TracedModel:
    """A model that takes and gives NumPy arrays; each of its methods is traced once, for all shapes."""

    def __init__(self, config: ModelConfig):
        self.model = build_model(config, VOCAB_SIZE)
        randomize(self.model)
        ids = tf.TensorSpec((None, None), tf.int32)
        signature = [{"source_ids": ids, "target_ids": ids}]
        self._call = tf.function(self.model, input_signature=signature)
        self._train = tf.function(lambda inputs: self.model(inputs, training=True), input_signature=signature)
        self._encode = tf.function(self.model.encode, input_signature=[ids])
        self._step = None

    def logits(self, source_ids, target_ids, training: bool = False) -> np.ndarray:
        inputs = {"source_ids": tf.constant(source_ids, tf.int32), "target_ids": tf.constant(target_ids, tf.int32)}
        return convert_to_numpy((self._train if training else self._call)(inputs))

    def encode(self, source_ids):
        return self._encode(tf.constant(source_ids, tf.int32))

    def step(self, previous_ids, state, memory, position: int):
        if self._step is None:
            row, at = tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.int32)
            of_rows = tf.nest.map_structure(
                lambda tensor: tf.TensorSpec((None, *tensor.shape[1:]), tensor.dtype), state
            )
            memory_spec = tf.nest.map_structure(_any_length, memory)
            self._step = tf.function(self.model.step, input_signature=[row, of_rows, memory_spec, at])
        return self._step(tf.constant(previous_ids, tf.int32), state, memory, tf.constant(position))

    def logits_by_steps(self, source_ids, target_ids) -> np.ndarray:
        """The same as `logits`, by `step` at one position after the other."""
        memory = self.encode(source_ids)
        state = self.model.initial_state(memory, 40)
        previous_ids = np.pad(target_ids, [[0, 0], [1, 0]])
        all_logits = []
        for position in range(len(target_ids[0])):
            logits, state = self.step(previous_ids[:, position], state, memory, position)
            all_logits.append(convert_to_numpy(logits))
        return np.stack(all_logits, axis=1)


def _any_length(tensor: tf.Tensor) -> tf.TensorSpec:
    shape = (None, None, *tensor.shape[2:]) if tensor.shape.rank > 1 else (None,)
    return tf.TensorSpec(shape, tensor.dtype)


@pytest.fixture(scope="session")
def traced() -> Callable[[ModelConfig], TracedModel]:
    """The traced model of a configuration; tests share it and leave its weights as they are."""
    yield _traced
    _traced.cache_clear()
    keras.backend.clear_session()


@cache
def _traced(config: ModelConfig) -> TracedModel:
    return TracedModel(config)


def draw_sentences(lengths, seed: int = 0) -> list[list[int]]:
    """Sentences of ids that end with the end symbol, of the given lengths; 0 gives an empty row."""
    random = np.random.default_rng(seed)
    words = [random.integers(2, VOCAB_SIZE, size=max(length - 1, 0)).tolist() for length in lengths]
    return [[*word, 1] if length else [] for word, length in zip(words, lengths, strict=True)]


def pad(sentences, length: int | None = None) -> np.ndarray:
    """Sentences as one int32 array, padded to the longest, or to a longer length."""
    length = max([length or 0, *map(len, sentences)])
    return np.array([[*ids, *[0] * (length - len(ids))] for ids in sentences], "int32").reshape(-1, length)
