"""Callbacks of `fit` for a prepared run: progress, measurements, and the saving of models and checkpoints."""

import math
import time
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from bytenet.csv_log import CsvLog
from bytenet.errors import InputError
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model
from bytenet.training.checkpoints import save_checkpoint
from bytenet.training.messages.divergence import ADVICE_ON_DIVERGENCE
from bytenet.training.metrics import EPOCH_COLUMNS
from bytenet.training.optimizers.averaging import averaged_weights
from bytenet.training.state import TrainingState, early_stop_message, is_evaluation_due, is_out_of_patience

_SECONDS_BETWEEN_LINES = 30
_MEASURED = ("loss", "character_error", "val_loss")


class Clock:
    """Adds the time of the training to its state."""

    def __init__(self, state: TrainingState):
        self._state = state
        self._last = time.monotonic()

    def tick(self) -> None:
        """Add the time since the last call."""
        now = time.monotonic()
        self._state.seconds += now - self._last
        self._last = now


class CountedSteps(keras.callbacks.Callback):
    """Counts steps, characters and seconds, shows the progress, and ends the training."""

    def __init__(
        self, state: TrainingState, clock: Clock, total_steps: int, characters: float, say: Callable[[str], None]
    ):
        super().__init__()
        self._state = state
        self._clock = clock
        self._total_steps = total_steps
        self._characters = characters
        self._say = say
        self._last_line = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        state, now = self._state, time.monotonic()
        state.step += 1
        state.characters = round(state.step * self._characters)
        self._clock.tick()
        if state.step >= self._total_steps:
            self.model.stop_training = True
        if now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            loss = float((logs or {}).get("loss", float("nan")))
            _check_finite(loss, f"The loss until step {state.step:,}")
            self._say(f"step {state.step:,} of {self._total_steps:,}, {state.seconds:.0f} seconds: loss {loss:.4f}")


class MeasuredEpochs(keras.callbacks.Callback):
    """Measures and saves the model, saves the state of the training, and stops a run without progress."""

    def __init__(
        self, run: RunFolder, state: TrainingState, clock: Clock, total_steps: int, num_batches: int,
        validation: dict[str, Any], say: Callable[[str], None],
    ):  # fmt: skip
        super().__init__()
        self._run = run
        self._state = state
        self._clock = clock
        self._total_steps = total_steps
        self._num_batches = num_batches
        self._validation = validation
        self._say = say
        self._log = CsvLog(run.metrics_path, EPOCH_COLUMNS)
        self._log.drop_after(state.step or -1)

    def measure_start(self, model: keras.Model) -> None:
        """Measure and save a trained model that the run starts from, before its first step: it may be the best one."""
        if self._validation:
            self.set_model(model)
            val_loss = self._val_loss()
            if not math.isfinite(val_loss):
                raise InputError(
                    f"The loss of the model of training.start on the validation pairs is {val_loss}, but should be a "
                    "finite number. Prepare a new run with another model as training.start."
                )
            if self._is_kept(val_loss, 0):
                save_model(model, self._run.model_path)
            self._write(0, {"val_loss": val_loss})

    def on_epoch_end(self, epoch, logs=None):
        state, config, logs = self._state, self._run.config, dict(logs or {})
        _check_finite(logs["loss"], f"The loss of epoch {epoch + 1}")
        state.epoch, state.batch = divmod(state.step, self._num_batches)
        is_due = is_evaluation_due(state, config.evaluation) or state.step >= self._total_steps
        if is_due:
            _check_weights(self.model, epoch + 1)
            with averaged_weights(self.model):
                if self._validation:
                    logs["val_loss"] = self._val_loss()
                    _check_finite(logs["val_loss"], f"The loss on the validation pairs after epoch {epoch + 1}")
                if self._is_kept(logs.get("val_loss"), epoch + 1):
                    save_model(self.model, self._run.model_path)
        self._write(epoch + 1, logs)
        if is_due:
            save_checkpoint(self._run.checkpoints, self.model, [self.model], state, config.training.keep_checkpoints)
        if is_out_of_patience(state, config):
            self._say(early_stop_message(state, "val_loss"))
            self.model.stop_training = True

    def _val_loss(self) -> float:
        scores = self.model.evaluate(**self._validation, verbose=0, return_dict=True)
        return scores["character_cross_entropy"]

    def _is_kept(self, val_loss: float | None, epoch: int) -> bool:
        """Whether the model after `epoch` epochs, of which the last may be incomplete, is the model of the run."""
        state, training = self._state, self._run.config.training
        if training.early_stopping_metric != "val_loss" or val_loss is None:
            return True
        return state.improve("val_loss", "forward", val_loss, epoch) or training.keep_model == "last"

    def _write(self, epoch: int, logs: dict[str, float]) -> None:
        state = self._state
        self._clock.tick()
        measured: dict[str, float] = {name: logs[name] for name in _MEASURED if name in logs}
        measured["learning_rate"] = float(self.model.optimizer.learning_rate)
        place = {"epoch": epoch, "step": state.step, "seconds": state.seconds, "characters": state.characters}
        self._log.append(place | measured)
        values = ", ".join(f"{name} {value:.4f}" for name, value in measured.items())
        self._say(f"epoch {epoch}, {state.seconds:.0f} seconds: {values}")


def _check_finite(loss: float, which: str) -> None:
    """Raise an InputError if a loss is not finite. Its message begins with `which`, in words."""
    if not math.isfinite(loss):
        raise InputError(f"{which} is {loss}. {ADVICE_ON_DIVERGENCE}")


def _check_weights(model: keras.Model, epoch: int) -> None:
    """Raise an InputError if a weight of the model after `epoch` epochs is not finite."""
    spoiled = [weight.path for weight in model.weights if not np.isfinite(keras.ops.convert_to_numpy(weight)).all()]
    if spoiled:
        raise InputError(
            f"After epoch {epoch}, {len(spoiled)} of the {len(model.weights)} arrays of weights have values that are "
            f"not finite; the first is {spoiled[0]}. {ADVICE_ON_DIVERGENCE}"
        )
