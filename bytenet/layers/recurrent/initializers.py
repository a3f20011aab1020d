"""Initial weights of recurrent translators."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import keras
from keras import ops
from keras.initializers import GlorotUniform, Initializer, Orthogonal, RandomNormal, RandomUniform, Zeros


@keras.saving.register_keras_serializable("bytenet")
class Float32Orthogonal(Orthogonal):
    """Keras's `Orthogonal`, computed in float32 and then cast: TensorFlow has no QR decomposition in bfloat16."""

    def __call__(self, shape, dtype=None):
        return ops.cast(super().__call__(shape, "float32"), dtype or keras.config.floatx())


@keras.saving.register_keras_serializable("bytenet")
class SquareBlocks(Initializer):
    """A matrix of square blocks side by side, one for each gate. Each block is drawn by itself.

    Args:
        block: the initialiser of a block, by its name or its configuration, without a seed.
    """

    def __init__(self, block: str | dict[str, Any]):
        self.block = block

    def __call__(self, shape, dtype=None):
        units = shape[0]
        # Each block has a new initialiser, with its own seed.
        blocks = [keras.initializers.get(self.block)((units, units), dtype=dtype) for _ in range(shape[1] // units)]
        return ops.concatenate(blocks, axis=1)

    def get_config(self):
        return {"block": self.block}


@dataclass(frozen=True)
class WeightScheme:
    """Functions that make the initialisers of each kind of weight, each call with its own seed.

    Attributes:
        kernel: for embeddings, and for maps of inputs, states and outputs.
        recurrent: for the maps of a cell's state to its gates, `(units, gates * units)`.
        score: for the maps inside the scores of attention.
        vector: for the vector of additive scores.
        forget_bias: first bias of an LSTM's forget gates. All other biases begin at 0.
    """

    kernel: Callable[[], Initializer] = GlorotUniform
    recurrent: Callable[[], Initializer] = Float32Orthogonal
    score: Callable[[], Initializer] = GlorotUniform
    vector: Callable[[], Initializer] = GlorotUniform
    forget_bias: float = 1.0


def _same(make: Callable[[], Initializer]) -> WeightScheme:
    return WeightScheme(make, make, make, make, forget_bias=0.0)


WEIGHT_SCHEMES = {
    "auto": WeightScheme(),
    "orthogonal": WeightScheme(recurrent=partial(SquareBlocks, "bytenet>Float32Orthogonal")),
    "identity": WeightScheme(recurrent=partial(SquareBlocks, "identity")),
    "sutskever": _same(partial(RandomUniform, -0.08, 0.08)),
    "luong": _same(partial(RandomUniform, -0.1, 0.1)),
    "bahdanau": WeightScheme(
        kernel=partial(RandomNormal, stddev=0.01),
        recurrent=partial(SquareBlocks, "bytenet>Float32Orthogonal"),
        score=partial(RandomNormal, stddev=0.001),
        vector=Zeros,
        forget_bias=0.0,
    ),
}
"""The schemes by name.

"auto" has Keras's initialisers. "orthogonal" draws an orthogonal matrix for each gate; Keras draws one for all gates
together. "identity" is for ReLUs (IRNN). The others are those of the papers.

Reference:
    Sutskever et al. 2014, section 3.4; Luong et al. 2015, section 4.1; Bahdanau et al. 2015, appendix B.1; Le et al.
    2015 (IRNN).
"""


def weight_scheme(name: str) -> WeightScheme:
    """The scheme of a name.

    Raises:
        ValueError: for an unknown name.
    """
    if name not in WEIGHT_SCHEMES:
        raise ValueError(f"Unknown initializer {name!r}; known are {', '.join(WEIGHT_SCHEMES)}.")
    return WEIGHT_SCHEMES[name]
