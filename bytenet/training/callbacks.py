"""What happens around the steps of `fit`: counting, saving, logging, stopping."""

import math
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.csv_log import CsvLog
from bytenet.errors import InputError
from bytenet.run_folder import RunFolder
from bytenet.training.checkpoints import save_checkpoint
from bytenet.training.optimizers import translators_of
from bytenet.training.preparation import Stream
from bytenet.training.progress import ProgressLine
from bytenet.training.state import TrainingState

# Of the time between two checkpoints, what makes the end of an epoch worth one.
_EPOCH_SHARE = 0.1


class StateKeeper(keras.callbacks.Callback):
    """Keeps the training state up to date; the first among the callbacks.

    It also tells the progress line the shapes of each step's batches, stops a run whose loss is no number, and stops at
    the last step.

    Args:
        state: changed in place.
        streams: of the run's batches, by name; those of "pairs" make up the epochs.
        target_lengths: int `(pairs,)`, target characters of each pair, end symbol counted.
        total_steps: where the run ends.
        progress: told the shapes of each step's batches.
        metrics_to_restore: values of the model's metrics of a resumed epoch, in order; taken at its begin.
    """

    def __init__(
        self,
        state: TrainingState,
        streams: Mapping[str, Stream],
        target_lengths: np.ndarray,
        total_steps: int,
        progress: ProgressLine,
        metrics_to_restore: list[np.ndarray] | None = None,
    ):
        super().__init__()
        self._state = state
        self._streams = streams
        self._target_lengths = target_lengths
        self._total_steps = total_steps
        self._progress = progress
        self._metrics_to_restore = metrics_to_restore
        self._seconds_before = state.seconds
        self._began = time.monotonic()

    def on_epoch_begin(self, epoch, logs=None):
        if self._metrics_to_restore is not None:  # `fit` has just reset them
            for variable, value in zip(self.model.metrics_variables, self._metrics_to_restore, strict=True):
                variable.assign(value)
            self._metrics_to_restore = None

    def on_train_batch_begin(self, batch, logs=None):
        planned = {name: stream.batch_at(self._state.step) for name, stream in self._streams.items()}
        self._progress.announce_shapes({name: (len(batch.indices), batch.length) for name, batch in planned.items()})

    def on_train_batch_end(self, batch, logs=None):
        state = self._state
        indices = self._streams["pairs"].batch_at(state.step).indices
        state.characters += int(self._target_lengths[indices[indices >= 0]].sum())
        state.batch += 1
        state.step += 1
        state.seconds = self._seconds_before + time.monotonic() - self._began
        loss = float(logs["loss"])
        norms = [translator.optimizer.gradient_norm for translator in translators_of(self.model)]
        gradient_norm = float(np.max([keras.ops.convert_to_numpy(norm) for norm in norms]))  # NaN if one of them is
        # The gradient too, as it spoils the weights one step before the loss tells.
        if not (math.isfinite(loss) and math.isfinite(gradient_norm)):
            raise InputError(
                f"The loss is {loss} and the gradient's norm {gradient_norm} at step {state.step}, so the weights are "
                "lost; the checkpoints are from before. What helps, in this order: a lower training.learning_rate, "
                "longer training.warmup_steps, training.clip_norm (1.0 is a good value), "
                "training.mixed_precision: false; for SELU and norm-free variants all of them."
            )
        if state.step >= self._total_steps:
            self.model.stop_training = True

    def on_epoch_end(self, epoch, logs=None):
        if self._state.batch == self._streams["pairs"].plan.num_batches:
            self._state.epoch = epoch + 1
            self._state.batch = 0


class CheckpointSaver(keras.callbacks.Callback):
    """Saves a checkpoint every so many seconds or steps, after epochs that are not too short, and when asked to stop.

    The last among the run's own callbacks, so that what they changed is saved. After the last step of an epoch (or of
    the run) it saves only when the evaluation that follows is done: a run killed in between repeats it.

    Args:
        folder: of the run.
        state: saved with the model.
        config: of the run.
        steps_per_epoch: batches in an epoch.
        total_steps: where the run ends.
    """

    def __init__(self, folder: RunFolder, state: TrainingState, config: Config, steps_per_epoch: int, total_steps: int):
        super().__init__()
        self._steps_per_epoch = steps_per_epoch
        self._total_steps = total_steps
        self._folder = folder
        self._state = state
        self._config = config.training
        self._saved_at = time.monotonic()
        self._stop_requested = False

    def save(self) -> None:
        """Save a checkpoint now."""
        save_checkpoint(self._folder.checkpoints, self.model, self._state, self._config.keep_checkpoints)
        self._saved_at = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        if self._state.batch == self._steps_per_epoch or self._state.step == self._total_steps:
            return
        if self._is_due(self._config.checkpoint_every_seconds):
            self.save()
        self._stop_if_requested()

    def on_epoch_end(self, epoch, logs=None):
        is_last = self._state.step >= self._total_steps or self.model.stop_training
        if is_last or self._is_due(_EPOCH_SHARE * self._config.checkpoint_every_seconds):
            self.save()
        self._stop_if_requested()

    def _is_due(self, seconds: float) -> bool:
        every_steps = self._config.checkpoint_every_steps
        by_steps = every_steps is not None and self._state.step % every_steps == 0
        return by_steps or time.monotonic() - self._saved_at >= seconds or self._stop_requested

    def _stop_if_requested(self) -> None:
        if self._stop_requested:
            raise KeyboardInterrupt(
                f"Stopped at step {self._state.step}, all saved. "
                f"Go on with: bytenet train --resume --run {self._folder.path}"
            )

    @contextmanager
    def stopping_on_signals(self) -> Iterator[None]:
        """Inside, Ctrl-C and SIGTERM end the run after the step begun, with a checkpoint; a second one at once."""

        def request_stop(number, frame):
            if self._stop_requested:
                raise KeyboardInterrupt
            self._stop_requested = True

        if threading.current_thread() is not threading.main_thread():  # the only one that gets signals
            yield
            return
        before = {number: signal.signal(number, request_stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class TrainingLog(keras.callbacks.Callback):
    """Writes what training measures for TensorBoard, and the epochs' results as CSV.

    What is said of a backward translator stands in the run's CSV, and by its own names in that of its own folder.

    Args:
        folders: of the run and, where there is a backward translator, of that, by direction.
        state: step and time of each value.
        learning: directions of the translators that learn; "loss" is the first one's.
    """

    EVERY_STEPS = 20
    """Steps between two values of loss, error, learning rate and gradient norm."""

    EPOCH_COLUMNS = (
        "epoch", "step", "seconds", "characters", "loss", "character_error", "val_loss", "val_bleu", "val_chrf",
        "val_misclassification", "learning_rate",
    )  # fmt: skip
    SEMI_SUPERVISED_COLUMNS = (
        "backward_loss", "source_marginal", "target_marginal", "val_backward_loss", "val_backward_bleu",
        "val_backward_chrf", "val_backward_misclassification",
    )  # fmt: skip

    def __init__(self, folders: Mapping[str, RunFolder], state: TrainingState, learning: Sequence[str] = ("forward",)):
        super().__init__()
        self._state = state
        folder, is_pair = folders["forward"], "backward" in folders
        self._writer = tf.summary.create_file_writer(str(folder.logs / "train"))
        columns = self.EPOCH_COLUMNS + (self.SEMI_SUPERVISED_COLUMNS if is_pair else ())
        self._epochs = CsvLog(folder.metrics_path, columns)
        self._backward_epochs = None
        if is_pair and "backward" in learning:
            self._backward_epochs = CsvLog(folders["backward"].metrics_path, self.EPOCH_COLUMNS)
        self._backward_loss = "loss" if learning[0] == "backward" else "backward_loss"
        for log in filter(None, (self._epochs, self._backward_epochs)):
            log.drop_after(state.step or -1)  # what a run starts from is measured at step 0, and then once more

    def on_train_batch_end(self, batch, logs=None):
        if self._state.step % self.EVERY_STEPS:
            return
        optimizer = self.model.optimizer
        with self._writer.as_default(step=self._state.step):
            for name, value in logs.items():
                tf.summary.scalar(name, value)
            tf.summary.scalar("learning_rate", optimizer.learning_rate)
            tf.summary.scalar("gradient_norm", keras.ops.convert_to_tensor(optimizer.gradient_norm))

    def on_train_begin(self, logs=None):
        if logs:  # the models that it starts from were measured
            self._write_epoch(0, logs)

    def on_epoch_end(self, epoch, logs=None):
        self._write_epoch(epoch + 1, logs or {})

    def _write_epoch(self, epoch: int, logs: dict[str, float]) -> None:
        rate = float(self.model.optimizer.learning_rate)
        state = self._state
        place = {"epoch": epoch, "step": state.step, "seconds": state.seconds, "characters": state.characters}
        self._epochs.append(place | {"learning_rate": rate} | logs)
        if self._backward_epochs is not None:
            of_backward = {
                name.replace("val_backward_", "val_"): value
                for name, value in logs.items()
                if name.startswith("val_backward_")
            }
            of_backward |= {"loss": logs.get(self._backward_loss), "learning_rate": rate, "characters": None}
            self._backward_epochs.append(place | of_backward)
        self._writer.flush()
