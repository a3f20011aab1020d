"""Replaces the weights of a model by their averages for a while."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import keras
import numpy as np

from bytenet.private_api import averages_of


@contextmanager
def averaged_weights(*models: keras.Model) -> Iterator[None]:
    """Give models the averages of their weights, if their optimisers keep any; afterwards, their own weights again.

    Args:
        *models: each compiled with a `TrainingOptimizer` or with an optimiser of Keras.
    """
    own = []
    try:
        for model in models:
            weights, averages = model.trainable_weights, _averages(model.optimizer)
            for weight, average in zip(weights, averages or [], strict=averages is not None):
                own.append((weight, keras.ops.convert_to_numpy(weight)))
                weight.assign(average)
        yield
    finally:
        for weight, value in own:
            weight.assign(value)


def _averages(optimizer: keras.optimizers.Optimizer) -> Sequence[np.ndarray] | None:
    """The averages of the weights, in their order; None if the optimiser keeps none.

    They are copies, because a step of JAX deletes the arrays that it is given.
    """
    if hasattr(optimizer, "average_weights"):  # a `TrainingOptimizer`, whose module needs TensorFlow
        return optimizer.average_weights()
    return [keras.ops.convert_to_numpy(average) for average in averages_of(optimizer)] if optimizer.use_ema else None
