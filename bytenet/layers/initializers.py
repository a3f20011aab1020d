"""Initial weights: by good practice, by the thesis's text, and by its code."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import keras
from keras import ops


@keras.saving.register_keras_serializable("bytenet")
class ThesisCodeUniform(keras.initializers.Initializer):
    """Uniform in ±√(1 / fan), as in the thesis's code. The thesis's text differs.

    A matrix has fan = number of rows; a convolution kernel `(k, in, out)` has fan = √(k · in · out), so its
    bound is (k · in · out)^(−1/4).

    Args:
        seed: int; None draws one from Python's `random`, as Keras's own initialisers do.
        gain: factor of the bound.
    """

    def __init__(self, seed: int | None = None, gain: float = 1.0):
        self.seed = random.randrange(1, 2**31) if seed is None else seed
        self.gain = gain

    def __call__(self, shape, dtype=None):
        fan = math.sqrt(math.prod(shape)) if len(shape) == 3 else shape[0]
        bound = self.gain * math.sqrt(1 / fan)
        return ops.cast(keras.random.uniform(shape, -bound, bound, seed=self.seed), dtype or keras.config.floatx())

    def get_config(self):
        return {"seed": self.seed, "gain": self.gain}


@keras.saving.register_keras_serializable("bytenet")
class JointGlorotUniform(keras.initializers.Initializer):
    """Glorot's uniform bound for two Keras matrices that were one matrix in TensorFlow 1.

    TensorFlow 1's recurrent cells multiply inputs and state, side by side, with one matrix; a GRU has one such matrix
    for both gates and one for its candidate. Keras keeps the rows of the inputs and the rows of the state in two
    matrices, and the columns of gates and candidate in one. This initialiser draws a Keras matrix from the bounds of
    the TensorFlow 1 matrices, ±√(6 / (rows + columns)).

    Args:
        rows: number of rows of the TensorFlow 1 matrix, inputs and state together.
        columns: widths of the TensorFlow 1 matrices whose columns stand side by side in the Keras matrix.
        seed: int; None draws one from Python's `random`, as Keras's own initialisers do.

    Reference:
        TensorFlow 1.1, `tensorflow/contrib/rnn/python/ops/core_rnn_cell_impl.py`, `_linear`.
    """

    def __init__(self, rows: int, columns: Sequence[int], seed: int | None = None):
        self.rows = rows
        self.columns = tuple(columns)
        self.seed = random.randrange(1, 2**31) if seed is None else seed

    def __call__(self, shape, dtype=None):
        bounds = [math.sqrt(6 / (self.rows + width)) for width in self.columns for _ in range(width)]
        values = keras.random.uniform(shape, -1, 1, seed=self.seed) * ops.convert_to_tensor(bounds, dtype="float32")
        return ops.cast(values, dtype or keras.config.floatx())

    def get_config(self):
        return {"rows": self.rows, "columns": self.columns, "seed": self.seed}


@keras.saving.register_keras_serializable("bytenet")
class OpenGates(keras.initializers.Initializer):
    """Biases of a Keras GRU whose gates begin at 1 and whose candidate begins at 0, as in TensorFlow 1."""

    def __call__(self, shape, dtype=None):
        gates = 2 * shape[-1] // 3
        return ops.concatenate([ops.ones((gates,), dtype), ops.zeros((shape[-1] - gates,), dtype)])


MakeInitializer = Callable[[], keras.initializers.Initializer]


@dataclass(frozen=True)
class Initializers:
    """Functions that make the initialisers of each kind of weight.

    Each call makes a new initialiser with its own seed: one object used twice would draw the same numbers twice.

    Attributes:
        embedding: for the rows of an embedding table.
        hidden: for convolutions with an activation after them, directly or after a normalisation.
        residual: for convolutions whose output is added to the residual stream.
        head: for the output projection to the vocabulary.
    """

    embedding: MakeInitializer
    hidden: MakeInitializer
    residual: MakeInitializer
    head: MakeInitializer


def initializers_for(name: str, activation: str, num_blocks: int) -> Initializers:
    """Choose the initialisers by the name of the scheme.

    Args:
        name: "auto": He (ReLU) or LeCun (SELU) for convolutions before an activation; LeCun divided by the depth of
            the stack for convolutions that add to the residual stream, so that the stream keeps its scale; a small
            head, so that the first predictions are nearly uniform. "he" and "lecun": the same scheme for every
            convolution, as in the thesis's text for ReLU (eq. 2.2.15) and SELU (eq. 3.5.2). All three draw embeddings
            from N(0, 1). "thesis_code": the bounds of the thesis's code for any activation. "thesis_selu": √3 times
            these bounds for every convolution, which is eq. 3.5.2 with the code's fan.
        activation: "relu" or "selu"; used by "auto".
        num_blocks: residual blocks in the stack; used by "auto".

    Returns:
        The functions that make the initialisers of each kind of weight.

    Raises:
        ValueError: for an unknown `name`; for another `activation` with "auto".

    Reference:
        He et al. 2015; LeCun et al. 1998.
    """

    def scaling(scale: float) -> MakeInitializer:
        return lambda: keras.initializers.VarianceScaling(scale, mode="fan_in", distribution="uniform")

    def embedding() -> keras.initializers.Initializer:
        return keras.initializers.RandomNormal(stddev=1.0)

    if name == "auto":
        if activation not in ("relu", "selu"):
            raise ValueError(f"Unknown activation {activation!r}; known are relu, selu.")
        hidden = scaling(2.0 if activation == "relu" else 1.0)
        return Initializers(embedding, hidden, residual=scaling(1.0 / num_blocks), head=scaling(0.1))
    if name in ("he", "lecun"):
        gain = scaling(2.0 if name == "he" else 1.0)
        return Initializers(embedding, hidden=gain, residual=gain, head=gain)
    if name == "thesis_code":
        return Initializers(*[ThesisCodeUniform] * 4)
    if name == "thesis_selu":
        return Initializers(ThesisCodeUniform, *[partial(ThesisCodeUniform, gain=math.sqrt(3))] * 3)
    raise ValueError(f"Unknown initializer {name!r}; known are auto, he, lecun, thesis_code, thesis_selu.")
