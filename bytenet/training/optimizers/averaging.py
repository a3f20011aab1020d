"""The averages of a model's weights in the place of its weights."""

from collections.abc import Iterator
from contextlib import contextmanager

import keras


@contextmanager
def averaged_weights(*models: keras.Model) -> Iterator[None]:
    """Give models the averages of their weights, if their optimisers keep any; afterwards, their own weights again.

    Args:
        *models: each compiled with a `TrainingOptimizer`.
    """
    own = []
    for model in models:
        weights, averages = model.trainable_weights, model.optimizer.average_weights()
        for weight, average in zip(weights, averages or [], strict=averages is not None):
            own.append((weight, keras.ops.convert_to_numpy(weight)))
            weight.assign(average)
    try:
        yield
    finally:
        for weight, value in own:
            weight.assign(value)
