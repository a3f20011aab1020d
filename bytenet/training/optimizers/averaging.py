"""The moving averages of the weights: how they forget, and how they replace the weights for a while."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np

from bytenet.private_api import averages_of


def share_of_old_average(momentum: float, updates: Any) -> Any:
    """What an update keeps of the average of the weights.

    The share grows with the number of updates, from 2/11 to `momentum`, as in TensorFlow's
    `ExponentialMovingAverage(decay, num_updates)`. With a constant share of .998, the first weights still make up a
    fifth of the average after 800 updates. The first average is the weights after one update.

    Args:
        momentum: the largest share, 0 to 1.
        updates: number of updates before this one, a scalar tensor.

    Returns:
        A float32 scalar tensor.
    """
    updates = keras.ops.cast(updates, "float32")
    return keras.ops.where(updates > 0, keras.ops.minimum(momentum, (1 + updates) / (10 + updates)), 0.0)


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
