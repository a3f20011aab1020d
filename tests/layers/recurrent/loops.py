"""Recurrent layers as loops in NumPy, and sentences to read."""

import numpy as np
from keras.ops import convert_to_numpy

from bytenet.layers.recurrent.encoder import RecurrentLayer

from ...numpy_functions import sigmoid
from ..random_weights import random_values, with_random_weights


def random_layer(kind, units=3, channels=2, **arguments):
    layer = RecurrentLayer(kind, units, **arguments)
    layer.build((None, None, channels))
    return with_random_weights(layer)


def loop_over_steps(layer, inputs):
    """The outputs of a layer for one sentence, float `(length, channels)`, in double precision."""
    cell = layer.cell
    kernel, recurrent, bias = (
        convert_to_numpy(weight).astype("float64") for weight in (cell.kernel, cell.recurrent_kernel, cell.bias)
    )

    def normalized(sums, columns):
        if cell.gain is None:
            return sums + bias[columns]
        gates = sums.reshape(-1, cell.units)
        centred = gates - gates.mean(axis=1, keepdims=True)
        standardized = centred / np.sqrt(gates.var(axis=1, keepdims=True) + cell.epsilon)
        return standardized.ravel() * convert_to_numpy(cell.gain)[columns] + bias[columns]

    state, memory, outputs, every = np.zeros(cell.units), np.zeros(cell.units), [], slice(None)
    for values in inputs.astype("float64"):
        sums = values @ kernel
        if cell.kind == "gru":
            gates, candidate = slice(0, 2 * cell.units), slice(2 * cell.units, None)
            update, reset = np.split(sigmoid(normalized(sums[gates] + state @ recurrent[:, gates], gates)), 2)
            new = np.tanh(normalized(sums[candidate] + (reset * state) @ recurrent[:, candidate], candidate))
            state = (1 - update) * state + update * new
        elif cell.kind == "lstm":
            write, forget, new, read = np.split(normalized(sums + state @ recurrent, every), 4)
            memory = sigmoid(forget) * memory + sigmoid(write) * np.tanh(new)
            state = sigmoid(read) * np.tanh(memory)
        else:
            state = np.tanh(normalized(sums + state @ recurrent, every))
        outputs.append(state)
    return np.array(outputs)


SENTENCES = random_values(3, 6, 2)
LENGTHS = [6, 2, 4]
MASK = np.arange(6) < np.array(LENGTHS)[:, None]
