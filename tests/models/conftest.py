"""Narrow ByteNets of every variant, with random weights everywhere, compiled once for all lengths."""

from collections.abc import Callable
from functools import cache

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import ByteNet

NARROW = {"vocab_size": 11, "dim": 8, "num_sets": 1, "dilations": (1, 2, 4)}


class NumpyByteNet:
    """A model that takes and gives NumPy arrays, each of its methods traced for any length."""

    def __init__(self, model: ByteNet):
        self.model = model
        ids = tf.TensorSpec((None, None), tf.int32)
        signature = [{"source_ids": ids, "target_ids": ids}]
        self._call = tf.function(model, input_signature=signature)
        self._train = tf.function(lambda inputs: model(inputs, training=True), input_signature=signature)
        self._encode = tf.function(model.encode, input_signature=[ids])
        state = model.initial_state({"encoded": tf.zeros((1, 1, model.dim))}, 1)
        any_batch = tf.nest.map_structure(lambda tensor: tf.TensorSpec((None, *tensor.shape[1:]), tensor.dtype), state)
        memory = {"encoded": tf.TensorSpec((None, None, model.dim), model.compute_dtype)}
        row, position = tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.int32)
        self._step = tf.function(model.step, input_signature=[row, any_batch, memory, position])

    def logits(self, source_ids, target_ids, training: bool = False) -> np.ndarray:
        inputs = {"source_ids": tf.constant(source_ids, tf.int32), "target_ids": tf.constant(target_ids, tf.int32)}
        return convert_to_numpy((self._train if training else self._call)(inputs))

    def encode(self, source_ids):
        return self._encode(tf.constant(source_ids, tf.int32))

    def step(self, previous_ids, state, memory, position: int):
        return self._step(tf.constant(previous_ids, tf.int32), state, memory, tf.constant(position))

    def logits_by_steps(self, source_ids, target_ids) -> np.ndarray:
        """The same as `logits`, by `step` at one position after the other."""
        memory = self.encode(source_ids)
        state = self.model.initial_state(memory, len(target_ids[0]))
        previous_ids = np.pad(target_ids, [[0, 0], [1, 0]])
        all_logits = []
        for position in range(len(target_ids[0])):
            logits, state = self.step(previous_ids[:, position], state, memory, position)
            all_logits.append(convert_to_numpy(logits))
        return np.stack(all_logits, axis=1)


def randomize(model: ByteNet, seed: int = 0) -> None:
    """Weights that make every part matter: no bias, offset or running mean is zero, and logits are of size 1."""
    random = np.random.default_rng(seed)
    for weight in model.weights:
        shape = tuple(weight.shape)
        if weight.name == "kernel":
            values = random.normal(scale=np.prod(shape[:-1]) ** -0.5, size=shape)
        elif weight.name == "moving_variance":
            values = random.uniform(0.5, 2.0, size=shape)
        else:
            values = random.normal(scale=0.5, size=shape)
        weight.assign(values)


@cache
def _narrow_bytenet(variant: str, overrides: tuple[tuple[str, object], ...]) -> NumpyByteNet:
    settings = NARROW | {"variant": variant} | dict(overrides)
    vocab_size, policy = settings.pop("vocab_size"), settings.pop("dtype", None)
    model = ByteNet(ByteNetConfig(**settings), vocab_size, dtype=policy)
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    randomize(model)
    return NumpyByteNet(model)


@pytest.fixture(scope="session")
def narrow_bytenet() -> Callable[..., NumpyByteNet]:
    """Makes a narrow model: `narrow_bytenet("selu", join="add")`. Not to be changed, as tests share it."""
    yield lambda variant="bytenet", **overrides: _narrow_bytenet(variant, tuple(sorted(overrides.items())))
    _narrow_bytenet.cache_clear()
    keras.backend.clear_session()


@pytest.fixture(scope="session")
def random_sentences() -> Callable[..., list[list[int]]]:
    """Draws sentences of ids that end with the end symbol, of the given lengths; 0 gives an empty row."""

    def draw(lengths, seed=0):
        random = np.random.default_rng(seed)
        words = [random.integers(2, NARROW["vocab_size"], size=max(length - 1, 0)).tolist() for length in lengths]
        return [[*word, 1] if length else [] for word, length in zip(words, lengths, strict=True)]

    return draw


@pytest.fixture(scope="session")
def padded() -> Callable[..., np.ndarray]:
    """Puts sentences into one int32 array, padded to the longest, or a longer length."""

    def pad(sentences, length=None):
        length = max([length or 0, *map(len, sentences)])
        return np.array([[*ids, *[0] * (length - len(ids))] for ids in sentences], "int32").reshape(-1, length)

    return pad
