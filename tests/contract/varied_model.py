"""Models with random weights, changed so that a search finds hypotheses of many lengths."""

from functools import cache

import numpy as np
from keras import ops

from bytenet.config import ModelConfig
from bytenet.datasets import EOS_ID, UNKNOWN_ID
from bytenet.models import TranslationModel, build_model

from .cases import VOCAB_SIZE, randomize

MAX_LENGTH = 12


class VariedModel(TranslationModel):
    """A model of any family that uses all symbols and ends at many positions. It writes up to 12 symbols.

    A model with random weights prefers the same few symbols for every source. So its mean logits at each position are
    subtracted, and the rest is scaled to a standard deviation of 2. Fixed random offsets are added. They make the end
    symbol unlikely at the first three positions and favour the unknown symbol, so that forbidding it matters.

    Attributes:
        offsets: float32 `(12, vocab_size)`, added to the scaled logits at each position.
    """

    config_class = ModelConfig

    def __init__(self, config: ModelConfig, vocab_size: int):
        super().__init__(config, vocab_size)
        self.base = build_model(config, vocab_size)
        randomize(self.base)
        random = np.random.default_rng(0)
        ids = random.integers(2, vocab_size, size=(20, MAX_LENGTH)).astype("int32")
        logits = ops.convert_to_numpy(self.base({"source_ids": ids[:, :6], "target_ids": ids}))
        means = logits.mean(axis=0)
        self.scale = np.float32(2.0 / (logits - means).std())
        offsets = random.normal(scale=0.7, size=means.shape)
        offsets[:3, EOS_ID] -= 4.5
        offsets[:, EOS_ID] += 2.0
        offsets[:, UNKNOWN_ID] += 1.0
        self.offsets = (offsets - self.scale * means).astype("float32")

    def encode(self, source_ids, training=False):
        return self.base.encode(source_ids, training=training)

    def decode(self, memory, previous_ids, training=False):
        logits = self.base.decode(memory, previous_ids, training=training)
        return logits * self.scale + ops.convert_to_tensor(self.offsets)[: ops.shape(previous_ids)[1]]

    def initial_state(self, memory, max_length, beam_size=1):
        return self.base.initial_state(memory, max_length, beam_size)

    def make_step(self):
        base_step = self.base.make_step()

        def step(previous_ids, state, memory, position):
            logits, state = base_step(previous_ids, state, memory, position)
            return logits * self.scale + ops.take(self.offsets, position, axis=0), state

        return step

    def select(self, state, parents):
        return self.base.select(state, parents)


@cache
def varied(config: ModelConfig, vocab_size: int = VOCAB_SIZE) -> VariedModel:
    """The varied model of a configuration. All tests share it."""
    return VariedModel(config, vocab_size)
