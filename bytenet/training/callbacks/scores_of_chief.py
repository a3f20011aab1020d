"""The chief's scores of an epoch, for all workers."""

import json

import keras

from bytenet.training.distribution.workers import Workers
from bytenet.training.state import TrainingState


class ScoresOfChief(keras.callbacks.Callback):
    """Gives all workers the measurements and decisions of the chief, which alone evaluates.

    It comes after `WholeSetEvaluation`, and before the callbacks that decide by the scores.

    Args:
        state: best scores so far.
        workers: of the run.
    """

    def __init__(self, state: TrainingState, workers: Workers):
        super().__init__()
        self._state = state
        self._workers = workers

    def on_train_begin(self, logs=None):
        self._share(logs)

    def on_epoch_end(self, epoch, logs=None):
        self._share(logs)

    def _share(self, logs: dict[str, float]) -> None:
        state = self._state
        own = {
            "logs": {name: float(value) for name, value in logs.items()},
            "best_scores": state.best_scores,
            "best_epoch": state.best_epoch,
            "stop": bool(self.model.stop_training),
        }
        of_chief = json.loads(self._workers.from_chief(json.dumps(own).encode()))
        logs.update(of_chief["logs"])
        state.best_scores, state.best_epoch = of_chief["best_scores"], of_chief["best_epoch"]
        self.model.stop_training = of_chief["stop"]
