"""First weights: what good practice says, what the thesis's text says, what its code does."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import keras
from keras import ops


@keras.saving.register_keras_serializable("bytenet")
class ThesisCodeUniform(keras.initializers.Initializer):
    """Uniform in ±√(1 / fan) as in the code behind the thesis, which differs from its text.

    A matrix has fan = number of rows; a convolution kernel `(k, in, out)` has fan = √(k · in · out), so its
    bound is (k · in · out)^(−1/4).

    Args:
        seed: int; None draws one from Python's `random`, as Keras's own initialisers do.
    """

    def __init__(self, seed: int | None = None):
        self.seed = random.randrange(1, 2**31) if seed is None else seed

    def __call__(self, shape, dtype=None):
        fan = math.sqrt(math.prod(shape)) if len(shape) == 3 else shape[0]
        bound = math.sqrt(1 / fan)
        return ops.cast(keras.random.uniform(shape, -bound, bound, seed=self.seed), dtype or keras.config.floatx())

    def get_config(self):
        return {"seed": self.seed}


MakeInitializer = Callable[[], keras.initializers.Initializer]


@dataclass(frozen=True)
class Initializers:
    """Makers of initialisers for the places that want different ones.

    Each call makes a new one, with a seed of its own: one object used twice would draw the same numbers twice.

    Attributes:
        embedding: for the rows of an embedding table.
        hidden: for convolutions that an activation follows, at once or after a normalisation.
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
        name: "auto": He for ReLU and LeCun for SELU where an activation follows, LeCun divided by the depth of
            the stack where a block adds to the residual stream (so that the stream keeps its scale), and a
            small head (so that the first predictions are near uniform). "he" and "lecun": that one scheme
            for every convolution, as the thesis's text has for ReLU (eq. 2.2.15) and SELU (eq. 3.5.2).
            "thesis_code": the bounds of the code behind the thesis, whatever the activation.
        activation: "relu" or "selu"; used by "auto".
        num_blocks: residual blocks in the stack; used by "auto".

    Raises:
        ValueError: for an unknown `name`.
    """

    def scaling(scale: float) -> MakeInitializer:
        return lambda: keras.initializers.VarianceScaling(scale, mode="fan_in", distribution="uniform")

    def embedding() -> keras.initializers.Initializer:
        return keras.initializers.RandomNormal(stddev=1.0)

    if name == "auto":
        hidden = scaling({"relu": 2.0, "selu": 1.0}[activation])
        return Initializers(embedding, hidden, residual=scaling(1.0 / num_blocks), head=scaling(0.1))
    if name in ("he", "lecun"):
        gain = scaling(2.0 if name == "he" else 1.0)
        return Initializers(embedding, hidden=gain, residual=gain, head=gain)
    if name == "thesis_code":
        return Initializers(*[ThesisCodeUniform] * 4)
    raise ValueError(f"Unknown initializer {name!r}; known are auto, he, lecun, thesis_code.")
