"""Numbers of weights: of a model, and of one that is not made yet, counted without memory for it."""

import math
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import keras

from bytenet.config import ModelConfig
from bytenet.errors import InputError
from bytenet.limits import MOST_PARAMETERS
from bytenet.models import build_model


def weight_shapes(config: ModelConfig, vocab_size: int) -> dict[str, tuple[int, ...]]:
    """The shape of each weight of a model by its path, those that are not trained included. No weight is made."""

    def shapes() -> dict[str, tuple[int, ...]]:
        # In this scope, Keras makes variables without values. It notes them for later, but for this thread only.
        with keras.StatelessScope(initialize_variables=False):
            return {weight.path: tuple(weight.shape) for weight in build_model(config, vocab_size).weights}

    # Layers draw their seeds from Python's random numbers. The model that is counted must not change those of a run.
    random_state = random.getstate()
    try:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(shapes).result()
    finally:
        random.setstate(random_state)


def check_size(config: ModelConfig, vocab_size: int, num_floats: int | None = None) -> int:
    """Check the number of weights of a model before it is built.

    Args:
        config: of the model.
        vocab_size: number of ids.
        num_floats: number of weights that a file has for it; None if there is no file.

    Returns:
        The number of weights, those that are not trained included.

    Raises:
        InputError: there are more than `MOST_PARAMETERS`, or another number than in the file.
    """
    number = sum(map(math.prod, weight_shapes(config, vocab_size).values()))
    if number > MOST_PARAMETERS:
        raise InputError(
            f"A {config.kind} of these sizes with {vocab_size:,} symbols has {number:,} parameters; expected at most "
            f"{MOST_PARAMETERS:,}. Choose a smaller model, for example with a smaller model.dim."
        )
    if num_floats not in (None, number):
        raise InputError(f"its arrays have {num_floats:,} numbers, but its configuration needs {number:,}")
    return number


def num_trainable(model: keras.Model) -> int:
    """Number of trainable parameters."""
    return num_values(model.trainable_weights)


def num_values(weights: Sequence[keras.Variable]) -> int:
    """Number of values of all weights."""
    return sum(math.prod(weight.shape) for weight in weights)
