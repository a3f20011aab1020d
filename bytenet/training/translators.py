"""The translators in the model that `fit` trains: the model itself, or those of a `TranslatorPair`."""

from collections.abc import Iterator
from contextlib import contextmanager

import keras

from bytenet.training.optimizers.training_optimizer import TrainingOptimizer


def translators_of(model: keras.Model) -> list[keras.Model]:
    """The models that have optimisers of their own, the forward translator first."""
    return getattr(model, "translators", [model])


@contextmanager
def averaged_weights(model: keras.Model) -> Iterator[None]:
    """Inside, the model has the averages of its weights, if its optimiser keeps any; after it, its own again."""
    own = []
    for translator in translators_of(model):
        optimizer, weights = translator.optimizer, translator.trainable_weights
        averages = optimizer.average_weights() if isinstance(optimizer, TrainingOptimizer) else None
        for weight, average in zip(weights, averages or [], strict=averages is not None):
            own.append((weight, keras.ops.convert_to_numpy(weight)))
            weight.assign(average)
    try:
        yield
    finally:
        for weight, value in own:
            weight.assign(value)
