"""An optimiser that runs on every backend of Keras."""

from typing import Any

import keras

from bytenet.config import TrainingConfig
from bytenet.training.optimizers.averaging import share_of_old_average
from bytenet.training.optimizers.keras_classes import (
    arguments_from_config,
    check_optimizer,
    explaining_refusals,
    optimizer_classes,
)
from bytenet.training.optimizers.schedules import make_schedule


class _GrowingShare(keras.optimizers.Optimizer):
    """Gives an optimiser of Keras `share_of_old_average`, instead of the same share at all updates.

    Models are saved without their optimiser, so its class is not registered.
    """

    @property
    def ema_momentum(self) -> Any:
        return share_of_old_average(self._largest_share, self.iterations)

    @ema_momentum.setter
    def ema_momentum(self, share: float) -> None:
        self._largest_share = share

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"ema_momentum": self._largest_share}


def portable_optimizer(
    training: TrainingConfig, total_updates: int, updates_per_epoch: int
) -> keras.optimizers.Optimizer:
    """Keras's own optimiser for a run, with its schedule, clipping and averaging. It runs on every backend.

    "adam" is Keras's Adam. `make_optimizer` has faster forms of the same for TensorFlow.

    Args:
        training: reads `optimizer` and all settings of it, but no accumulation.
        total_updates: updates of the run, for the schedule.
        updates_per_epoch: likewise.

    Raises:
        ConfigError: there is no such optimiser, or it does not take the arguments.
    """
    check_optimizer(training)
    kind = optimizer_classes()["keras_adam" if training.optimizer == "adam" else training.optimizer]
    # Without a name, Keras numbers the optimisers of the process, and a checkpoint has the names of its variables.
    arguments: dict[str, Any] = {"name": training.optimizer, "global_clipnorm": training.clip_norm}
    if training.ema_momentum is not None:
        arguments |= {"use_ema": True, "ema_momentum": training.ema_momentum}
        kind = type(f"Averaging{kind.__name__}", (_GrowingShare, kind), {})
    schedule = make_schedule(training, total_updates)
    schedule.begin_run(total_updates, updates_per_epoch)
    with explaining_refusals(training):
        return kind(learning_rate=schedule, **arguments, **arguments_from_config(kind, training))
