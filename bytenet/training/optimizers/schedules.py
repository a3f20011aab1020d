"""Learning rates that depend on the step. A step of an optimiser is an update of the weights."""

import math
from typing import TYPE_CHECKING

import keras
from keras import ops

if TYPE_CHECKING:
    from bytenet.config import TrainingConfig

_DECAYS = ("constant", "cosine", "linear", "inverse_sqrt")


@keras.saving.register_keras_serializable("bytenet")
class WarmupDecay(keras.optimizers.schedules.LearningRateSchedule):
    """A linear rise to `peak`, then a decay.

    With d units and w steps of warm-up, "inverse_sqrt" with a peak of d^−½ w^−½ is the schedule of the Transformer,
    d^−½ min(s^−½, s w^−1.5) at step s (Vaswani et al. 2017, eq. 3), also named noam.

    Args:
        peak: highest learning rate.
        decay: "constant" stays at the peak; "cosine" and "linear" fall to `final` at `total_updates`;
            "inverse_sqrt" falls like √(warmup_steps / step), or like √(1 / step) without warm-up.
        warmup_steps: length of the rise, which begins with peak / warmup_steps at the first step.
        total_updates: last update of the run. It is a variable, so it can be changed in a traced step.
        final: learning rate at the end of "cosine" and "linear", and the lowest one of "inverse_sqrt".

    Raises:
        ValueError: `decay` is unknown.
    """

    def __init__(self, peak: float, decay: str, warmup_steps: int, total_updates: int, final: float = 0.0):
        if decay not in _DECAYS:
            raise ValueError(f"Unknown decay {decay!r}; known are {', '.join(_DECAYS)}.")
        self.peak = peak
        self.decay = decay
        self.warmup_steps = warmup_steps
        self.final = final
        self._total_updates = keras.Variable(
            float(total_updates), trainable=False, dtype="float32", name="total_updates"
        )

    @property
    def total_updates(self) -> int:
        """Last update of the run."""
        return int(ops.convert_to_numpy(self._total_updates))

    @total_updates.setter
    def total_updates(self, value: int) -> None:
        self._total_updates.assign(float(value))

    def begin_run(self, total_updates: int, updates_per_epoch: int) -> None:
        """Prepare the schedule for the first update of a run. A model may be used by several runs.

        Args:
            total_updates: of the run.
            updates_per_epoch: of the run.
        """
        self.total_updates = total_updates

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1
        rising = self.peak * step / max(self.warmup_steps, 1)
        return ops.where(step < self.warmup_steps, rising, self._falling(step))

    def _falling(self, step):
        """The rate after the warm-up, at a step that is counted from 1."""
        falling_steps = ops.maximum(self._total_updates - self.warmup_steps, 1.0)
        share = ops.clip((step - self.warmup_steps) / falling_steps, 0.0, 1.0)
        if self.decay == "cosine":
            return self.final + (self.peak - self.final) * 0.5 * (1 + ops.cos(math.pi * share))
        if self.decay == "linear":
            return self.peak + (self.final - self.peak) * share
        if self.decay == "inverse_sqrt":
            return ops.maximum(self.peak * ops.sqrt(max(self.warmup_steps, 1) / step), self.final)
        return self.peak

    def get_config(self):
        return {
            "peak": self.peak,
            "decay": self.decay,
            "warmup_steps": self.warmup_steps,
            "total_updates": self.total_updates,
            "final": self.final,
        }


@keras.saving.register_keras_serializable("bytenet")
class StepDecay(WarmupDecay):
    """A linear rise to `peak`, then the same rate, which is multiplied by a factor at regular times.

    An epoch is the whole run until `begin_run` gives the number of its updates.

    Args:
        peak, warmup_steps, total_updates, final: as for `WarmupDecay`; `final` is the lowest rate.
        factor: what the rate is multiplied by, between 0 and 1.
        start_epoch: number of epochs before the first cut; may be a fraction.
        every_epochs: number of epochs between two cuts; may be a fraction.

    Reference:
        Sutskever et al. 2014: a rate of .7, halved from 5 epochs on every .5 epochs. Luong et al. 2015: a rate of 1,
        halved from 5 epochs on every epoch.
    """

    def __init__(
        self, peak: float, warmup_steps: int, total_updates: int, final: float, factor: float, start_epoch: float,
        every_epochs: float,
    ):  # fmt: skip
        super().__init__(peak, "constant", warmup_steps, total_updates, final)
        self.factor = factor
        self.start_epoch = start_epoch
        self.every_epochs = every_epochs
        self._updates_per_epoch = keras.Variable(
            float(total_updates), trainable=False, dtype="float32", name="updates_per_epoch"
        )

    def begin_run(self, total_updates: int, updates_per_epoch: int) -> None:
        super().begin_run(total_updates, updates_per_epoch)
        self._updates_per_epoch.assign(float(updates_per_epoch))

    def _falling(self, step):
        # A hundredth of a step makes up for the rounding of times that are fractions of an epoch.
        done = step - 1 - self.start_epoch * self._updates_per_epoch + 0.01
        cuts = ops.maximum(ops.floor(done / (self.every_epochs * self._updates_per_epoch)) + 1, 0.0)
        return ops.maximum(self.peak * self.factor**cuts, self.final)

    def get_config(self):
        names = ("peak", "warmup_steps", "total_updates", "final", "factor", "start_epoch", "every_epochs")
        return {name: getattr(self, name) for name in names}


@keras.saving.register_keras_serializable("bytenet")
class PlateauDecay(WarmupDecay):
    """A linear rise to `peak`, then a rate that is set from outside, see `PlateauCuts`.

    The rise, too, ends at the rate that is set.

    Args:
        peak, warmup_steps, total_updates: as for `WarmupDecay`.
    """

    def __init__(self, peak: float, warmup_steps: int, total_updates: int):
        super().__init__(peak, "constant", warmup_steps, total_updates)
        self._rate = keras.Variable(peak, trainable=False, dtype="float32", name="rate")

    def begin_run(self, total_updates: int, updates_per_epoch: int) -> None:
        super().begin_run(total_updates, updates_per_epoch)
        self.set_rate(self.peak)

    def set_rate(self, rate: float) -> None:
        """Set the rate after the warm-up, which is also the highest rate in it."""
        self._rate.assign(rate)

    def __call__(self, step):
        return ops.minimum(super().__call__(step), self._rate)

    def get_config(self):
        return {"peak": self.peak, "warmup_steps": self.warmup_steps, "total_updates": self.total_updates}


def make_schedule(config: "TrainingConfig", total_updates: int) -> WarmupDecay:
    """The learning rate of a run.

    Args:
        config: reads `learning_rate`, `schedule`, `warmup_steps`, `final_learning_rate` and the settings of a step.
        total_updates: of the run.
    """
    peak, warmup_steps, final = config.learning_rate, config.warmup_steps, config.final_learning_rate
    if config.schedule == "step":
        return StepDecay(
            peak, warmup_steps, total_updates, final, config.decay_factor, config.decay_start_epoch,
            config.decay_every_epochs,
        )  # fmt: skip
    if config.schedule == "plateau":
        return PlateauDecay(peak, warmup_steps, total_updates)
    return WarmupDecay(peak, config.schedule, warmup_steps, total_updates, final)
