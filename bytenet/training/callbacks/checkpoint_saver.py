"""When checkpoints are saved, and how a run is stopped."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import keras

from bytenet.config import Config
from bytenet.run_folder import RunFolder
from bytenet.training.checkpoints import save_checkpoint, spread_metric_sums
from bytenet.training.distribution.agreement import Agreement
from bytenet.training.state import TrainingState, is_inside_epoch, is_step_due
from bytenet.training.stop_signals import on_stop_signals

# The end of an epoch is worth a checkpoint if this share of the time between two checkpoints has passed.
_EPOCH_SHARE = 0.1


class CheckpointSaver(keras.callbacks.Callback):
    """Saves a checkpoint every so many seconds or steps, after epochs that are not too short, and when asked to stop.

    It is the last of the run's own callbacks, so that it saves what the others changed. After the last step of an epoch
    or of the run, it saves when the evaluation is done. A run that is killed before that repeats the step.

    Args:
        folder: of the run.
        translators: the models with optimisers.
        state: saved with the model.
        config: reads when to save and how many checkpoints to keep from `training`.
        steps_per_epoch: batches in an epoch.
        total_steps: steps of the whole run.
        agreement: decides when to save and when to stop, so that all workers do it after the same step.
        num_workers: of the run.
    """

    def __init__(
        self,
        folder: RunFolder,
        translators: Sequence[keras.Model],
        state: TrainingState,
        config: Config,
        steps_per_epoch: int,
        total_steps: int,
        agreement: Agreement,
        num_workers: int = 1,
    ):
        super().__init__()
        self._translators = translators
        self._steps_per_epoch = steps_per_epoch
        self._total_steps = total_steps
        self._folder = folder
        self._state = state
        self._config = config.training
        self._agreement = agreement
        self._num_workers = num_workers

    def save(self) -> None:
        """Save a checkpoint now."""
        folder, keep = self._folder.checkpoints, self._config.keep_checkpoints
        save_checkpoint(folder, self.model, self._translators, self._state, keep)
        spread_metric_sums(self.model)
        self._agreement.note_checkpoint()

    def on_train_batch_end(self, batch, logs=None):
        if not is_inside_epoch(self._state, self._steps_per_epoch, self._total_steps):
            return
        self._save_and_stop(self._is_due(self._config.checkpoint_every_seconds))

    def on_epoch_end(self, epoch, logs=None):
        is_last = self._state.step >= self._total_steps or self.model.stop_training
        self._save_and_stop(is_last or self._is_due(_EPOCH_SHARE * self._config.checkpoint_every_seconds))

    def _is_due(self, seconds: float) -> bool:
        by_steps = is_step_due(self._state, self._config.checkpoint_every_steps)
        return by_steps or self._agreement.seconds_since_checkpoint >= seconds

    def _save_and_stop(self, is_due: bool) -> None:
        """Save a checkpoint if it is due or if the run is asked to stop, and then stop if it is."""
        is_asked_to_stop = self._agreement.is_asked_to_stop  # read once: a signal may come at any moment
        if is_due or is_asked_to_stop:
            self.save()
        if is_asked_to_stop and self._state.step >= self._total_steps:
            raise KeyboardInterrupt(f"Stopped after the last step, {self._state.step}. The run is finished and saved.")
        if is_asked_to_stop:
            advice = self._folder.how_to_resume(self._num_workers)
            raise KeyboardInterrupt(f"Stopped at step {self._state.step}; everything is saved. {advice}")

    @contextmanager
    def stopping_on_signals(self) -> Iterator[None]:
        """Let Ctrl-C or SIGTERM end the run after the present step, with a checkpoint. A second one ends it at once."""

        def request_stop(number, frame):
            if self._agreement.is_asked_here:
                raise KeyboardInterrupt
            self._agreement.ask_to_stop()

        if threading.current_thread() is not threading.main_thread():  # the only one that gets signals
            yield
            return
        with on_stop_signals(request_stop):
            yield
