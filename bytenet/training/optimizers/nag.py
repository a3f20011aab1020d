"""Nesterov's accelerated gradient as in fairseq."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("bytenet")
class Nag(keras.optimizers.Optimizer):
    """Nesterov's accelerated gradient, whose velocity follows the learning rate.

    With rate lr, momentum μ and gradient g, an update is x ← x + μ² v − (1 + μ) lr g and v ← μ v − lr g. If the rate
    changes, the velocity is first multiplied by new rate / old rate. Keras's `SGD(nesterov=True)` makes the same
    updates at a constant rate. But after a cut of the rate by 10, its velocity still has steps of the old rate, which
    with a momentum of .99 last for about 100 updates.

    The velocity is kept in units of the rate, u = v / lr. Then a change of the rate needs no further operation.

    Args:
        learning_rate: float or schedule.
        momentum: μ, at least 0 and less than 1.
        weight_decay: share of each weight, times the rate, that is subtracted before each update; None for none.
        name: first part of the names of its variables.
        **kwargs: further arguments of `keras.optimizers.Optimizer`, for clipping and averaging.

    Raises:
        ValueError: `momentum` is outside of its range.

    Reference:
        fairseq's optimiser `nag`, used by Gehring et al. 2017. Form of the update: Bengio et al. 2013, "Advances in
        optimizing recurrent networks", eq. 7.
    """

    def __init__(
        self,
        learning_rate=0.25,
        momentum: float = 0.99,
        weight_decay: float | None = None,
        name: str = "nag",
        **kwargs: Any,
    ):
        if not 0 <= momentum < 1:
            raise ValueError(f"momentum is {momentum}, but should be at least 0 and less than 1.")
        super().__init__(learning_rate=learning_rate, weight_decay=weight_decay, name=name, **kwargs)
        self.momentum = momentum

    def build(self, variables: list[keras.Variable]) -> None:
        """Make the velocities for a list of weights."""
        if self.built:
            return
        super().build(variables)
        self._velocities = self.add_optimizer_variables(variables, "velocity")

    def update_step(self, gradient, variable, learning_rate):
        """Update a weight and its velocity."""
        rate = ops.cast(learning_rate, variable.dtype)
        gradient = ops.cast(gradient, variable.dtype)
        velocity = self._velocities[self._get_variable_index(variable)]
        velocity_after = self.momentum * velocity - gradient
        # μ² u − (1 + μ) g, with the new velocity u' = μ u − g, is μ u' − g.
        self.assign_add(variable, rate * (self.momentum * velocity_after - gradient))
        self.assign(velocity, velocity_after)

    def get_config(self):
        return super().get_config() | {"momentum": self.momentum}
