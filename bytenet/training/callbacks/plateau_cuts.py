"""Cuts of the learning rate when the validation set shows no progress."""

from collections.abc import Collection, Mapping

import keras

from bytenet.config import Config
from bytenet.training.callbacks.progress_line import ProgressLine
from bytenet.training.metrics import score_name
from bytenet.training.plateau import Plateau, cut_after, is_below_least_rate, plateau_rate
from bytenet.training.state import TrainingState, is_evaluation_due


class PlateauCuts(keras.callbacks.Callback):
    """Cuts the learning rate of each translator by its own scores, and ends a run whose rates are too low.

    It needs the schedule "plateau". It comes after `WholeSetEvaluation`, which adds the scores to the logs. A run is
    also evaluated inside of epochs and at its last step. If `evaluation.every_epochs` asks for no evaluation there, it
    changes no rate. So a run that is resumed with more steps goes on like one that had them from the beginning.

    Args:
        translators: by direction, the first one of the run first.
        learning: directions of the translators that learn.
        state: keeps the number of cuts.
        config: reads the schedule and the metric from `training`, and how often to measure from `evaluation`.
        progress: shows messages.

    Reference:
        Gehring et al. 2017, section 4.2, for the rule "fast".
    """

    def __init__(
        self,
        translators: Mapping[str, keras.Model],
        learning: Collection[str],
        state: TrainingState,
        config: Config,
        progress: ProgressLine,
    ):
        super().__init__()
        self._translators = translators
        self._learning = learning
        self._state = state
        self._config = config
        self._progress = progress
        for name in learning:
            state.plateaus.setdefault(name, Plateau())

    def on_train_begin(self, logs=None):
        for name in self._learning:  # a resumed run has earlier cuts
            self._set_rate(name)
        if self._state.step == 0:
            self._read_scores(logs or {}, 0)

    def on_epoch_end(self, epoch, logs=None):
        if not is_evaluation_due(self._state, self._config.evaluation):
            return
        self._read_scores(logs or {}, self._state.epoch)
        if is_below_least_rate(self._state.plateaus.values(), self._config.training):
            self._progress.say("The learning rate is below training.min_learning_rate, so training stops.")
            self.model.stop_training = True

    def _read_scores(self, logs: Mapping[str, float], epoch: int) -> None:
        training = self._config.training
        for name in self._learning:
            key = score_name(training.early_stopping_metric, name, name == next(iter(self._translators)))
            if key in logs and cut_after(logs[key], epoch, self._state.plateaus[name], training):
                self._set_rate(name)
                self._say_cut(key, self._state.plateaus[name].cuts)

    def _say_cut(self, key: str, cuts: int) -> None:
        """Say why the latest of the cuts came, unless the learning rate was at its lowest value already."""
        training = self._config.training
        before, rate = plateau_rate(training, cuts - 1), plateau_rate(training, cuts)
        if rate == before:
            return
        if training.plateau_rule == "fast" and cuts > 1:
            reason = f"training.plateau_rule fast cuts after each further measurement of {key}"
        else:
            reason = f"{key} made no progress"
        self._progress.say(f"{reason}: the learning rate is now {rate:.3g}")

    def _set_rate(self, name: str) -> None:
        rate = plateau_rate(self._config.training, self._state.plateaus[name].cuts)
        self._translators[name].optimizer.schedule.set_rate(rate)
