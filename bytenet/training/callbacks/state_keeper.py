"""The place of a run in its data, kept up to date."""

import math
import time
from collections.abc import Mapping, Sequence

import keras
import numpy as np

from bytenet.errors import InputError
from bytenet.training.callbacks.progress_line import ProgressLine
from bytenet.training.messages.divergence import ADVICE_ON_DIVERGENCE
from bytenet.training.state import TrainingState
from bytenet.training.tasks.pairs.stream import Stream


class StateKeeper(keras.callbacks.Callback):
    """Keeps the training state up to date. All callbacks but `GradientAccumulation` come after it.

    It also passes the batch shapes of each step to the progress line, stops a run whose loss is not finite, and stops
    at the last step.

    Args:
        state: changed in place.
        translators: the models with optimisers.
        streams: of the run's batches, by name. An epoch is one round of the stream "pairs".
        total_steps: steps of the whole run.
        progress: shows the batch shapes that are new.
        metrics_to_restore: values of the model's metrics in an epoch that is resumed, in their order.
    """

    def __init__(
        self,
        state: TrainingState,
        translators: Sequence[keras.Model],
        streams: Mapping[str, Stream],
        total_steps: int,
        progress: ProgressLine,
        metrics_to_restore: list[np.ndarray] | None = None,
    ):
        super().__init__()
        self._state = state
        self._translators = translators
        self._streams = streams
        self._total_steps = total_steps
        self._progress = progress
        self._metrics_to_restore = metrics_to_restore
        self._seconds_before = state.seconds
        self._began = time.monotonic()

    def on_epoch_begin(self, epoch, logs=None):
        if self._metrics_to_restore is not None:  # `fit` has just reset the metrics
            for variable, value in zip(self.model.metrics_variables, self._metrics_to_restore, strict=True):
                variable.assign(value)
            self._metrics_to_restore = None

    def on_train_batch_begin(self, batch, logs=None):
        planned = {name: stream.batch_at(self._state.step) for name, stream in self._streams.items()}
        self._progress.next_shapes({name: (len(batch.indices), batch.length) for name, batch in planned.items()})

    def on_train_batch_end(self, batch, logs=None):
        state = self._state
        state.characters += self._streams["pairs"].target_chars_at(state.step)
        state.batch += 1
        state.step += 1
        state.seconds = self._seconds_before + time.monotonic() - self._began
        loss = float(logs["loss"])
        norms = [keras.ops.convert_to_numpy(translator.optimizer.gradient_norm) for translator in self._translators]
        gradient_norm = float(np.max(norms))  # NaN if one of them is
        # The gradient spoils the weights one step before the loss shows it.
        if not (math.isfinite(loss) and math.isfinite(gradient_norm)):
            raise InputError(
                f"The loss is {loss} and the norm of the gradient is {gradient_norm} at step {state.step}. "
                f"{ADVICE_ON_DIVERGENCE}"
            )
        if state.step >= self._total_steps:
            self.model.stop_training = True

    def on_epoch_end(self, epoch, logs=None):
        if self._state.batch == self._streams["pairs"].plan.num_batches:
            self._state.epoch = epoch + 1
            self._state.batch = 0
