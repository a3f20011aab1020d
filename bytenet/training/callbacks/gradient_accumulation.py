"""One update of the weights for several batches."""

from collections.abc import Callable

import keras
import tensorflow as tf

from bytenet.config import TrainingConfig
from bytenet.training.state import TrainingState
from bytenet.training.tasks.pairs.stream import Stream


class GradientAccumulation(keras.callbacks.Callback):
    """Weighs each batch, and updates the weights after every so many batches of an epoch and after its last one.

    It comes before all other callbacks, so that a checkpoint after a batch has the update, too.

    Args:
        state: place in the epoch, before `StateKeeper` counts the batch.
        pairs: batches of the run.
        config: reads `accumulate_batches` and `loss`.
        update: made by `make_update`.
    """

    def __init__(
        self,
        state: TrainingState,
        pairs: Stream,
        config: TrainingConfig,
        update: Callable[[], None],
    ):
        super().__init__()
        self._state = state
        self._pairs = pairs
        self._config = config
        self._update = update

    def on_train_batch_begin(self, batch, logs=None):
        step = self._state.step
        if self._config.loss == "sentence":
            weight = int((self._pairs.batch_at(step).indices >= 0).sum())
        else:
            weight = self._pairs.target_chars_at(step)
        self.model.optimizer.batch_weight.assign(weight)

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

    # XLA cannot compile what waits for other replicas.
    jit_compile = (model.jit_compile and strategy.num_replicas_in_sync == 1) or None
    traced: Callable[[], None] = tf.function(update, jit_compile=jit_compile, autograph=False)
    return traced
