"""Evaluation of the whole validation set, after epochs and inside of them."""

import time
from collections.abc import Collection, Mapping

import keras
import tensorflow as tf

from bytenet.config import Config
from bytenet.evaluation import samples_table
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model
from bytenet.training.callbacks.progress_line import ProgressLine
from bytenet.training.metrics import score_name
from bytenet.training.optimizers.averaging import averaged_weights
from bytenet.training.state import (
    TrainingState,
    early_stop_message,
    is_evaluation_due,
    is_inside_epoch,
    is_out_of_patience,
    is_step_due,
)
from bytenet.training.validation import Validator


class WholeSetEvaluation(keras.callbacks.Callback):
    """Measures the validation set, saves the best or the last model, and stops a run without progress.

    It measures after epochs, and after every `evaluation.every_steps` steps. Only the end of an epoch can stop a run.
    The scores are added to the logs of the epoch or the step, where the callbacks after this one find them. Each
    translator is saved at its own best score. A translator that starts from a trained model is also measured before the
    first step, because that may be its best score.

    Args:
        folders: of the run and of its other translators, by direction. Each gets the model as `model.keras`.
        translators: by direction.
        validators: by direction, of the translators that learn. Empty if there is no validation set; then the latest
            model counts as the best.
        started: directions of the translators that start from a trained model.
        state: best scores so far.
        config: reads the metric, the patience and the model to keep from `training`, and how often to measure and how
            many translations to show from `evaluation`.
        steps_per_epoch: batches in an epoch.
        total_steps: steps of the whole run, which may end in the middle of an epoch.
        progress: shows messages.
    """

    def __init__(
        self,
        folders: Mapping[str, RunFolder],
        translators: Mapping[str, keras.Model],
        validators: Mapping[str, Validator],
        started: Collection[str],
        state: TrainingState,
        config: Config,
        steps_per_epoch: int,
        total_steps: int,
        progress: ProgressLine,
    ):
        super().__init__()
        self._folders = folders
        self._translators = translators
        self._validators = validators
        self._started = [name for name in validators if name in started]
        self._state = state
        self._config = config
        self._steps_per_epoch = steps_per_epoch
        self._total_steps = total_steps
        self._progress = progress
        # Each process saves these once, as an earlier file may come from a start that was replaced since.
        self._not_learning = folders.keys() - validators.keys()
        self._writers = {
            name: tf.summary.create_file_writer(str(folder.logs / "validation")) for name, folder in folders.items()
        }

    def on_train_begin(self, logs=None):
        if self._started and self._state.step == 0:
            self._measure(self._started, 0, logs)
            self._progress.say("before the first step: " + ", ".join(f"{key} {logs[key]:.4g}" for key in sorted(logs)))

    def on_train_batch_end(self, batch, logs=None):
        state = self._state
        is_due = is_step_due(state, self._config.evaluation.every_steps)
        if is_due and is_inside_epoch(state, self._steps_per_epoch, self._total_steps):
            self._measure_or_save(state.epoch + 1, logs)

    def on_epoch_end(self, epoch, logs=None):
        state, config = self._state, self._config
        is_last = state.step >= self._total_steps
        is_due = is_evaluation_due(state, config.evaluation) or is_step_due(state, config.evaluation.every_steps)
        if is_last or is_due or not self._validators:
            self._measure_or_save(epoch + 1, logs)
        if is_out_of_patience(state, config):
            self._progress.say(early_stop_message(state, config.training.early_stopping_metric))
            self.model.stop_training = True

    def _measure_or_save(self, epoch: int, logs: dict[str, float]) -> None:
        """Measure all translators that learn. Without a validation set, save the latest model."""
        if self._validators:
            self._measure(self._validators, epoch, logs)
        else:
            self._save(self._folders)

    def _measure(self, directions: Collection[str], epoch: int, logs: dict[str, float]) -> None:
        """Measure translators in or after epoch number `epoch`, and save those with a new best score."""
        state, config = self._state, self._config
        to_save, self._not_learning = self._not_learning, set()
        for name in directions:
            began = time.monotonic()
            scores, hypotheses = self._validators[name].whole_set()
            is_first = name == next(iter(self._folders))
            logs.update({score_name(score, name, is_first): value for score, value in scores.items()})
            self._write(name, scores, hypotheses)
            state.seconds += time.monotonic() - began
            metric = config.training.early_stopping_metric
            if state.improve(metric, name, scores[metric], epoch):
                to_save.add(name)
        self._save(self._folders if config.training.keep_model == "last" else to_save)

    def _save(self, names: Collection[str]) -> None:
        if not names:
            return  # putting the averages in the place of all weights takes time
        with averaged_weights(*self._translators.values()):
            for name, folder in self._folders.items():
                if name in names:
                    save_model(self._translators[name], folder.model_path)

    def _write(self, name: str, scores: dict[str, float], hypotheses: list[str]) -> None:
        pairs, writer = self._validators[name].pairs, self._writers[name]
        with writer.as_default(step=self._state.step):
            for score, value in scores.items():
                tf.summary.scalar(score.removeprefix("val_"), value)
            samples = samples_table(pairs.source, pairs.target, hypotheses, self._config.evaluation.num_samples)
            tf.summary.text("translations", samples)
        writer.flush()
