"""What training needs from every optimiser."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np


class TrainingOptimizer(keras.optimizers.Optimizer):
    """An optimiser with a schedule, clipping by the global norm, and an average of the weights.

    Keras clips the gradient of each replica before it sums them, and puts the averages in place of the weights when
    `fit` ends. Here the gradients are summed first, so that a batch that is split over devices is clipped like a whole
    one, and the averages are kept apart.

    Args:
        learning_rate: float or schedule.
        clip_norm: largest L2 norm of the whole gradient; None for no clipping.
        ema_momentum: share of the old average kept at each step in `average_weights`; None keeps no average.
        name: first part of the names of its variables.

    Attributes:
        schedule: the learning rate as it was given.
        gradient_norm: float32 variable, L2 norm of the latest gradient before clipping; made by `build`.
    """

    gradient_norm: keras.Variable

    def __init__(self, learning_rate: Any, clip_norm: float | None, ema_momentum: float | None, name: str):
        super().__init__(learning_rate=learning_rate, name=name)
        self.schedule = learning_rate
        self.clip_norm = clip_norm
        self.averaging_momentum = ema_momentum

    @abstractmethod
    def average_weights(self) -> list[np.ndarray] | None:
        """Averages of the trainable weights, in their order and shapes; None if there are none (yet)."""


def check_gradients(gradients: Sequence[Any], weights: Sequence[keras.Variable]) -> None:
    """Raise a ValueError if a weight has no gradient. Keras only warns."""
    without = [weight.path for weight, gradient in zip(weights, gradients, strict=True) if gradient is None]
    if without:
        raise ValueError(f"Weights without a gradient: {', '.join(without)}. The loss must depend on all weights.")
