"""Models as functions of NumPy arrays."""

from functools import cache

import numpy as np
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config import ModelConfig
from bytenet.models import build_model

from .cases import VOCAB_SIZE, randomize

MAX_LENGTH = 40


class TracedModel:
    """A model with random weights that takes and gives NumPy arrays.

    `call` is traced once, for all shapes. `step` is traced again when shapes differ.
    """

    def __init__(self, config: ModelConfig, vocab_size: int):
        self.model = build_model(config, vocab_size)
        randomize(self.model)
        ids = tf.TensorSpec((None, None), tf.int32)
        self._call = tf.function(self.model, input_signature=[{"source_ids": ids, "target_ids": ids}])
        self._step = tf.function(self.model.step, reduce_retracing=True)

    def logits(self, source_ids, target_ids) -> np.ndarray:
        inputs = {"source_ids": tf.constant(source_ids, tf.int32), "target_ids": tf.constant(target_ids, tf.int32)}
        return convert_to_numpy(self._call(inputs))

    def encode(self, source_ids):
        return self.model.encode(tf.constant(source_ids, tf.int32))

    def step(self, previous_ids, state, memory, position: int):
        return self._step(tf.constant(previous_ids, tf.int32), state, memory, tf.constant(position))

    def logits_by_steps(self, source_ids, target_ids) -> np.ndarray:
        """The same as `logits`, but computed by `step` position by position."""
        memory = self.encode(source_ids)
        state = self.model.initial_state(memory, max(MAX_LENGTH, len(target_ids[0])))
        previous_ids = np.pad(target_ids, [[0, 0], [1, 0]])
        all_logits = []
        for position in range(len(target_ids[0])):
            logits, state = self.step(previous_ids[:, position], state, memory, position)
            all_logits.append(convert_to_numpy(logits))
        return np.stack(all_logits, axis=1)


@cache
def traced(config: ModelConfig, vocab_size: int = VOCAB_SIZE) -> TracedModel:
    """The model of a configuration. All tests share it, so its weights must not change."""
    return TracedModel(config, vocab_size)
