"""The measurements of training, for TensorBoard and as CSV."""

from collections.abc import Mapping, Sequence

import keras
import tensorflow as tf

from bytenet.csv_log import CsvLog
from bytenet.run_folder import RunFolder
from bytenet.training.metrics import EPOCH_COLUMNS, SCORES, loss_name, score_name
from bytenet.training.state import TrainingState


class TrainingLog(keras.callbacks.Callback):
    """Writes the measurements of steps for TensorBoard, and those of the validation set as CSV.

    The CSV of the run has the results of all translators. Each other translator also has a CSV in its own folder.

    Args:
        folders: of the run and of its other translators, by direction; the run comes first.
        state: step and time of each value.
        learning: directions of the translators that learn. "loss" is the loss of the first one.
        columns: further columns of the task, after `EPOCH_COLUMNS`.
    """

    EVERY_STEPS = 20
    """Steps between two values of loss, error, learning rate and gradient norm."""

    def __init__(
        self,
        folders: Mapping[str, RunFolder],
        state: TrainingState,
        learning: Sequence[str] = ("forward",),
        columns: Sequence[str] = (),
    ):
        super().__init__()
        self._state = state
        folder, *_ = folders.values()
        self._writer = tf.summary.create_file_writer(str(folder.logs / "train"))
        self._epochs = CsvLog(folder.metrics_path, (*EPOCH_COLUMNS, *columns))
        self._learning = learning
        self._others = {
            name: CsvLog(other.metrics_path, EPOCH_COLUMNS)
            for name, other in [*folders.items()][1:]
            if name in learning
        }
        for log in (self._epochs, *self._others.values()):
            log.drop_after(state.step or -1)  # the row of step 0 is about the start, which may be another now

    def on_train_batch_end(self, batch, logs=None):
        training = {name: value for name, value in logs.items() if not name.startswith("val_")}
        if training.keys() != logs.keys():  # the validation set was measured
            self._write_epoch(self._state.epoch + 1, logs)
        if self._state.step % self.EVERY_STEPS:
            return
        optimizer = self.model.optimizer
        with self._writer.as_default(step=self._state.step):
            for name, value in training.items():
                tf.summary.scalar(name, value)
            tf.summary.scalar("learning_rate", optimizer.learning_rate)
            tf.summary.scalar("gradient_norm", keras.ops.convert_to_tensor(optimizer.gradient_norm))

    def on_train_begin(self, logs=None):
        if logs:  # the models that the run starts from were measured
            self._write_epoch(0, logs)

    def on_epoch_end(self, epoch, logs=None):
        self._write_epoch(epoch + 1, logs or {})

    def _write_epoch(self, epoch: int, logs: dict[str, float]) -> None:
        state = self._state
        place: dict[str, float | None] = {
            "epoch": epoch, "step": state.step, "seconds": state.seconds, "characters": state.characters,
        }  # fmt: skip
        self._epochs.append(place | {"learning_rate": float(self.model.optimizer.learning_rate)} | logs)
        for name, own in self._others.items():
            scores = {score: logs.get(score_name(score, name, is_first=False)) for score in SCORES}
            loss = logs.get(loss_name(name, name == self._learning[0]))
            rate = float(self.model.translator(name).optimizer.learning_rate)
            own.append(place | scores | {"loss": loss, "learning_rate": rate, "characters": None})
        self._writer.flush()
