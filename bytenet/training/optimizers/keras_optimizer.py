"""Every optimiser of Keras's form, with the clipping and averaging that training asks for."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from bytenet.training.optimizers.flat_gradients import parts_like
from bytenet.training.optimizers.training_optimizer import TrainingOptimizer


@keras.saving.register_keras_serializable("bytenet")
class KerasOptimizer(TrainingOptimizer):
    """An optimiser of Keras that sums the gradients over the replicas, clips them, and averages the weights.

    Args:
        kind: class of the optimiser, such as `keras.optimizers.SGD`.
        learning_rate, clip_norm, ema_momentum, accumulates, exchange_dtype: as for `TrainingOptimizer`.
        **arguments: of the class.

    Raises:
        TypeError, ValueError: the class does not take the arguments.
    """

    def __init__(
        self,
        kind: type[keras.optimizers.Optimizer],
        learning_rate: Any,
        clip_norm: float | None = None,
        ema_momentum: float | None = None,
        accumulates: bool = False,
        exchange_dtype: str = "float32",
        **arguments: Any,
    ):
        name = scope_of(kind)
        super().__init__(learning_rate, clip_norm, ema_momentum, accumulates, exchange_dtype, name)
        self._arguments = arguments
        self._inner = kind(learning_rate=learning_rate, name=name, **arguments)
        self._average_variables: list[keras.Variable] = []

    @property
    def variables(self) -> list[keras.Variable]:
        """Its own variables, then those of Keras's optimiser."""
        return [*super().variables, *self._inner.variables]

    def build(self, variables: list[keras.Variable]) -> None:
        """Make all variables for a list of weights."""
        if self.built:
            return
        super().build(variables)
        self._inner.build(variables)
        self.gradient_norm = self.add_variable((), name="gradient_norm")
        if self.averaging_momentum is not None:
            self._average_variables = self.add_optimizer_variables(variables, "average")

    def update(self, gradient: tf.Tensor, weights: list[keras.Variable]) -> None:
        """Update the weights at once."""
        replica = tf.distribute.get_replica_context()
        replicas = replica.num_replicas_in_sync
        with keras.name_scope(self.name):
            norm = tf.norm(gradient)
            gradient = self._clipped(gradient, norm)
            if replicas > 1:  # Keras sums the gradients of the replicas once more
                gradient /= replicas
        self._inner.apply(parts_like(gradient, weights), weights)
        with keras.name_scope(self.name):
            replica.merge_call(self._note, args=(norm, [weight.value for weight in weights]))
        self.iterations.assign_add(1)

    def get_config(self):
        return super().get_config() | {
            "inner": keras.optimizers.serialize(self._inner),
            "arguments": dict(self._arguments),
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        inner, arguments = config.pop("inner"), config.pop("arguments")
        kind = type(keras.optimizers.deserialize(inner, custom_objects))
        return super().from_config(config | arguments | {"kind": kind}, custom_objects)

    def _note(self, strategy, norm, weights):
        """Keep the norm of the gradient, and the averages of the weights."""

        def assign(variable, value):
            variable.assign(value)

        def average(variable, weight):
            variable.assign(keep * variable + (1 - keep) * weight)

        strategy.extended.update(self.gradient_norm.value, assign, args=(norm,), group=False)
        if self.averaging_momentum is None:
            return
        keep = self._share_of_old_average
        for variable, weight in zip(self._average_variables, weights, strict=True):
            strategy.extended.update(variable.value, average, args=(weight,), group=False)

    def _averages(self) -> list[np.ndarray]:
        return [keras.ops.convert_to_numpy(average) for average in self._average_variables]


def scope_of(kind: type[keras.optimizers.Optimizer]) -> str:
    """The name of an optimiser of a class, in graphs and checkpoints.

    By default, Keras adds a number that counts through the whole process.
    """
    return kind.__name__.lower()
