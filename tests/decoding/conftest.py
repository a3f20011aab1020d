"""Small models that keep the promises of `TranslationModel`, and log-probabilities for comparison."""

from typing import ClassVar

import keras
import numpy as np
import pytest
from keras import ops

from bytenet.config import ModelConfig
from bytenet.config.checks import checked
from bytenet.models.batch_rows import repeat_for_beams
from bytenet.models.translation_model import TranslationModel

from .inputs import VOCABULARY


@checked
class NoConfig(ModelConfig):
    """The configuration of models without hyper-parameters."""

    VARIANTS: ClassVar = {"plain": {}}

    family: str = "test"
    variant: str = "plain"


class TableModel(TranslationModel):
    """Each probability depends on the position and the previous character: `tables[position][previous]`."""

    config_class = NoConfig

    def __init__(self, tables):
        super().__init__(NoConfig(), vocab_size=np.shape(tables)[-1])
        self.log_tables = np.log(np.array(tables, np.float32))  # (places, vocab_size, vocab_size)

    def call(self, inputs, training=False):
        raise NotImplementedError

    def encode(self, source_ids):
        return ops.cast(source_ids, "float32")

    def initial_state(self, memory, max_length, beam_size=1):
        return ()

    def make_step(self):
        return self._step

    def _step(self, previous_ids, state, memory, position):
        table = ops.take(ops.convert_to_tensor(self.log_tables), position, axis=0)
        return ops.take(table, previous_ids, axis=0), state

    def max_target_length(self, source_length):
        return len(self.log_tables)


class RecurrentModel(TranslationModel):
    """Random weights. Each character depends on the real source characters and on all previous characters."""

    config_class = NoConfig

    def __init__(self, vocab_size, hidden=6, seed=0, end_bias=0.0, extra_length=0):
        super().__init__(NoConfig(), vocab_size)
        self.hidden = hidden
        self.extra_length = extra_length
        rng = np.random.default_rng(seed)
        self.source_table = rng.normal(0, 1, (vocab_size, hidden)).astype("float32")
        self.target_table = rng.normal(0, 1, (vocab_size, hidden)).astype("float32")
        self.recurrent = rng.normal(0, 1, (hidden, hidden)).astype("float32")
        self.output_table = rng.normal(0, 1.5, (hidden, vocab_size)).astype("float32")
        self.symbol_bias = np.zeros(vocab_size, "float32")
        self.symbol_bias[1] = end_bias
        self.traces = 0

    def call(self, inputs, training=False):
        source_ids, target_ids = inputs["source_ids"], inputs["target_ids"]
        memory = self.encode(source_ids)
        state = self.initial_state(memory, target_ids.shape[1])
        previous_ids, logits = ops.zeros_like(target_ids[:, 0]), []
        for position in range(target_ids.shape[1]):
            step_logits, state = self.step(previous_ids, state, memory, position)
            logits.append(step_logits)
            previous_ids = target_ids[:, position]
        return ops.stack(logits, axis=1)

    def encode(self, source_ids):
        self.traces += 1
        mask = ops.cast(source_ids != 0, "float32")[..., None]
        return {"summary": ops.tanh(ops.sum(ops.take(self.source_table, source_ids, axis=0) * mask, axis=1))}

    def initial_state(self, memory, max_length, beam_size=1):
        zeros = ops.zeros((ops.shape(memory["summary"])[0] * beam_size, self.hidden))
        return {"hidden": zeros, "history": (zeros,)}

    def make_step(self):
        return self._step

    def _step(self, previous_ids, state, memory, position):
        before = ops.take(self.target_table, previous_ids, axis=0)
        summary = repeat_for_beams(memory["summary"], previous_ids)
        hidden = ops.tanh(ops.matmul(state["hidden"], self.recurrent) + before + summary)
        # The sum over all steps. A beam that copies the past of another beam must copy this sum, too.
        history = state["history"][0] + hidden
        logits = ops.matmul(hidden + ops.sin(history), self.output_table) + self.symbol_bias
        return logits, {"hidden": hidden, "history": (history,)}

    def max_target_length(self, source_length):
        return source_length + self.extra_length


def _sequence_log_probabilities(model, source_ids, sequences):
    """Log-probability of each id sequence (a tuple) as a translation of one row of source ids, float64."""
    longest = max(map(len, sequences))
    targets = np.zeros((len(sequences), longest), np.int32)
    for row, sequence in enumerate(sequences):
        targets[row, : len(sequence)] = sequence
    sources = np.repeat(np.asarray(source_ids)[None], len(sequences), axis=0)
    logits = model({"source_ids": sources, "target_ids": targets})
    log_probabilities = keras.ops.convert_to_numpy(keras.ops.log_softmax(logits)).astype(np.float64)
    chosen = np.take_along_axis(log_probabilities, targets[..., None], axis=-1)[..., 0]
    return np.array([row[: len(sequence)].sum() for row, sequence in zip(chosen, sequences, strict=True)])


@pytest.fixture
def table_model():
    return TableModel


@pytest.fixture
def recurrent_model():
    return RecurrentModel


@pytest.fixture
def model():
    """A model for `VOCABULARY`, which ends most translations."""
    return RecurrentModel(VOCABULARY.size, seed=11, end_bias=0.5, extra_length=4)


@pytest.fixture
def sequence_log_probabilities():
    return _sequence_log_probabilities
