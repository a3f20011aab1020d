"""Evaluation of random batches during training."""

import math
import time

import keras
import tensorflow as tf

from bytenet.config import Config
from bytenet.csv_log import CsvLog, as_written, read_csv_log
from bytenet.evaluation import smooth
from bytenet.run_folder import RunFolder
from bytenet.training.state import TrainingState, is_step_due
from bytenet.training.validation import BatchSampler, Validator


class ContinuousEvaluation(keras.callbacks.Callback):
    """Measures random batches during training. Raw and smoothed values go to TensorBoard and to a CSV file.

    If it measures at certain steps, it also measures before the first step.

    Args:
        folder: of the run. The values go to `continuous.csv` and the logs.
        validator: measures a batch.
        samplers: draw the batches, by prefix of the names of the values: "" for validation pairs.
        state: step and time of each value.
        config: reads when to measure and how to smooth from `evaluation`.
    """

    NAMES = ("cross_entropy", "sentence_cross_entropy", "misclassification", "bleu")

    def __init__(
        self,
        folder: RunFolder,
        validator: Validator,
        samplers: dict[str, BatchSampler],
        state: TrainingState,
        config: Config,
    ):
        super().__init__()
        self._validator = validator
        self._samplers = samplers
        self._state = state
        self._config = config.evaluation
        self._measured_at = time.monotonic()
        self._writer = tf.summary.create_file_writer(str(folder.logs / "validation"))
        self._names = [f"{prefix}{name}" for prefix in samplers for name in self.NAMES]
        columns = ["step", "seconds", *self._names, *(f"{name}_smoothed" for name in self._names)]
        self._log = CsvLog(folder.continuous_path, columns)
        self._log.drop_after(state.step or -1)  # without a checkpoint, step 0 is measured again
        # Rows from before `evaluation.continuous_train` was switched on have empty cells.
        self._values = {
            name: [value for value in values if not math.isnan(value)]
            for name, values in read_csv_log(self._log.path).items()
        }

    def on_train_begin(self, logs=None):
        if self._config.continuous_every_steps is not None and self._state.step == 0:
            self._measure()

    def on_train_batch_end(self, batch, logs=None):
        every_seconds = self._config.continuous_every_seconds
        by_steps = is_step_due(self._state, self._config.continuous_every_steps)
        by_time = every_seconds is not None and time.monotonic() - self._measured_at >= every_seconds
        if by_steps or by_time:
            self._measure()

    def _measure(self):
        values = {}
        for prefix, sampler in self._samplers.items():
            scores = self._validator.random_batch(sampler, self._state.step)
            values |= {f"{prefix}{name}": value for name, value in scores.items()}
        for name in self._names:
            self._values.setdefault(name, []).append(as_written(values[name]))
            values[f"{name}_smoothed"] = float(smooth(self._values[name], self._config.smoothing)[-1])
        self._log.append({"step": self._state.step, "seconds": self._state.seconds} | values)
        with self._writer.as_default(step=self._state.step):
            for name, value in values.items():
                tf.summary.scalar(f"random_batch/{name}", value)
        self._measured_at = time.monotonic()
