"""One update of the weights for several batches."""

from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import TrainingConfig
from bytenet.training.state import TrainingState
from bytenet.training.tasks.stream import Stream


class GradientAccumulation(keras.callbacks.Callback):
    """Weighs each batch, and updates the weights after every so many batches of an epoch and after its last one.

    It comes before all other callbacks, so that a checkpoint after a batch has the update, too.

    Args:
        state: place in the epoch, before `StateKeeper` counts the batch.
        pairs: batches of the run.
        target_lengths: int `(pairs,)`, target characters of each pair with the end symbol.
        config: reads `accumulate_batches` and `loss`.
        update: made by `make_update`.
    """

    def __init__(
        self,
        state: TrainingState,
        pairs: Stream,
        target_lengths: np.ndarray,
        config: TrainingConfig,
        update: Callable[[], None],
    ):
        super().__init__()
        self._state = state
        self._pairs = pairs
        self._target_lengths = target_lengths
        self._config = config
        self._update = update

    def on_train_batch_begin(self, batch, logs=None):
        indices = self._pairs.batch_at(self._state.step).indices
        real = indices[indices >= 0]
        by_sentence = self._config.loss == "sentence"
        self.model.optimizer.batch_weight.assign(len(real) if by_sentence else self._target_lengths[real].sum())

    def on_train_batch_end(self, batch, logs=None):
        done = self._state.batch + 1
        if done % self._config.accumulate_batches == 0 or done == self._pairs.plan.num_batches:
            self._update()


def make_update(model: keras.Model) -> Callable[[], None]:
    """A traced function that updates a model's weights by the accumulated gradients.

    It is a function of its own, because it does not depend on the shape of a batch: it is traced and compiled once.
    """
    strategy = model.distribute_strategy

    def update() -> None:
        strategy.run(model.optimizer.apply_accumulated, args=(model.trainable_variables,))

    traced: Callable[[], None] = tf.function(update, jit_compile=model.jit_compile or None, autograph=False)
    return traced
