"""Learning rates that depend on the step."""

import math
from typing import TYPE_CHECKING

import keras
from keras import ops

if TYPE_CHECKING:
    from bytenet.config import TrainingConfig


@keras.saving.register_keras_serializable("bytenet")
class WarmupDecay(keras.optimizers.schedules.LearningRateSchedule):
    """A linear rise to `peak`, then a decay.

    Args:
        peak: highest learning rate.
        decay: "constant" stays at the peak; "cosine" and "linear" fall to `final` at `total_steps`;
            "inverse_sqrt" falls like √(warmup_steps / step), or like √(1 / step) without warm-up.
        warmup_steps: length of the rise, which begins with peak / warmup_steps at the first step.
        total_steps: last step of the run. It is a variable, so it can be changed in a traced step.
        final: learning rate at the end of "cosine" and "linear", and the lowest one of "inverse_sqrt".
    """

    def __init__(self, peak: float, decay: str, warmup_steps: int, total_steps: int, final: float = 0.0):
        self.peak = peak
        self.decay = decay
        self.warmup_steps = warmup_steps
        self.final = final
        self._total_steps = keras.Variable(float(total_steps), trainable=False, dtype="float32", name="total_steps")

    @property
    def total_steps(self) -> int:
        """Last step of the run."""
        return int(ops.convert_to_numpy(self._total_steps))

    @total_steps.setter
    def total_steps(self, value: int) -> None:
        self._total_steps.assign(float(value))

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1
        rising = self.peak * step / max(self.warmup_steps, 1)
        falling_steps = ops.maximum(self._total_steps - self.warmup_steps, 1.0)
        share = ops.clip((step - self.warmup_steps) / falling_steps, 0.0, 1.0)
        if self.decay == "cosine":
            falling = self.final + (self.peak - self.final) * 0.5 * (1 + ops.cos(math.pi * share))
        elif self.decay == "linear":
            falling = self.peak + (self.final - self.peak) * share
        elif self.decay == "inverse_sqrt":
            falling = ops.maximum(self.peak * ops.sqrt(max(self.warmup_steps, 1) / step), self.final)
        elif self.decay == "constant":
            falling = self.peak
        else:
            raise ValueError(f"Unknown decay {self.decay!r}; known are constant, cosine, linear, inverse_sqrt.")
        return ops.where(step < self.warmup_steps, rising, falling)

    def get_config(self):
        return {
            "peak": self.peak,
            "decay": self.decay,
            "warmup_steps": self.warmup_steps,
            "total_steps": self.total_steps,
            "final": self.final,
        }


def make_schedule(config: "TrainingConfig", total_steps: int) -> WarmupDecay:
    """The learning rate of a run.

    Args:
        config: reads `learning_rate`, `schedule`, `warmup_steps` and `final_learning_rate`.
        total_steps: of the run.
    """
    return WarmupDecay(
        peak=config.learning_rate,
        decay=config.schedule,
        warmup_steps=config.warmup_steps,
        total_steps=total_steps,
        final=config.final_learning_rate,
    )
