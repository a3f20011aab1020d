"""What training needs from every optimiser."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from bytenet.models.model_size import num_values
from bytenet.training.optimizers.averaging import share_of_old_average
from bytenet.training.optimizers.flat_gradients import flat_vector


class TrainingOptimizer(keras.optimizers.Optimizer):
    """An optimiser with a schedule, clipping by the global norm, an average of the weights, and accumulation.

    Keras clips the gradient of each replica before it sums them, and puts the averages in place of the weights when
    `fit` ends. Here the gradients are summed first, so that a batch that is split over devices is clipped like a whole
    one, and the averages are kept apart.

    With accumulation, `apply` only adds the gradient of a batch to a sum, and `apply_accumulated` makes the update.
    Keras's own accumulation gives every batch the same weight, but batches have different numbers of characters. It
    also traces the update for every batch shape.

    Args:
        learning_rate: float or schedule. It depends on the number of updates.
        clip_norm: largest L2 norm of the whole gradient; None for no clipping.
        ema_momentum: largest share of the old average kept at an update in `average_weights`, see
            `share_of_old_average`; None keeps no average.
        accumulates: whether gradients are summed over several batches.
        exchange_dtype: "float32" or "bfloat16", in which replicas send each other their gradients.
        name: first part of the names of its variables.

    Attributes:
        schedule: the learning rate as it was given.
        accumulates: as given.
        gradient_norm: float32 variable, L2 norm of the gradient of the latest batch before clipping. After an update
            with accumulated gradients, it is the norm of their mean. Made by `build`.
        batch_weight: float32 variable, weight of the next batch in the mean over the accumulated batches. It is the
            number over which the loss of the batch is averaged: its sentences or its characters. Made by `build`, only
            for accumulation.
    """

    gradient_norm: keras.Variable
    batch_weight: keras.Variable

    def __init__(
        self,
        learning_rate: Any,
        clip_norm: float | None,
        ema_momentum: float | None,
        accumulates: bool,
        exchange_dtype: str,
        name: str,
    ):
        super().__init__(learning_rate=learning_rate, name=name)
        self.schedule = learning_rate
        self.clip_norm = clip_norm
        self.averaging_momentum = ema_momentum
        self.accumulates = accumulates
        self.exchange_dtype = exchange_dtype

    def build(self, variables: list[keras.Variable]) -> None:
        """Make the variables of the accumulation for a list of weights. Subclasses add their own variables."""
        super().build(variables)
        if self.accumulates:
            self.batch_weight = self.add_variable((), name="batch_weight")
            self._weight_sum = self.add_variable((), name="weight_sum")
            self._gradient_sum = self.add_variable((num_values(variables),), name="gradient_sum")

    def apply(self, grads, trainable_variables):
        """Update the weights. With accumulation, add the gradient to the sum instead.

        Args:
            grads: a gradient for each weight, of this replica.
            trainable_variables: the weights, in the order of `build`.

        Raises:
            ValueError: a weight has no gradient.
        """
        weights = list(trainable_variables)
        _check_gradients(grads, weights)
        if not self.built:
            self.build(weights)
        if self.accumulates:
            self._accumulate(grads)
        else:
            self.update(self._over_replicas(grads), weights)

    def apply_accumulated(self, trainable_variables: Sequence[keras.Variable]) -> None:
        """Update the weights with the mean gradient since the latest update. Called on each replica.

        Args:
            trainable_variables: the weights, in the order of `build`.
        """
        weights = list(trainable_variables)
        replica = tf.distribute.get_replica_context()
        with keras.name_scope(self.name):
            gradient = self._gradient_sum.value / self._weight_sum.value
        self.update(gradient, weights)
        with keras.name_scope(self.name):
            replica.merge_call(self._clear_sums)

    @abstractmethod
    def update(self, gradient: tf.Tensor, weights: list[keras.Variable]) -> None:
        """Update the weights at once. Called on each replica.

        Args:
            gradient: of the whole batch, float32 `(parameters,)`.
            weights: in the order of `build`.
        """

    def get_config(self):
        return {
            "learning_rate": super().get_config()["learning_rate"],
            "clip_norm": self.clip_norm,
            "ema_momentum": self.averaging_momentum,
            "accumulates": self.accumulates,
            "exchange_dtype": self.exchange_dtype,
        }

    def average_weights(self) -> list[np.ndarray] | None:
        """Averages of the trainable weights, in their order and shapes; None if there are none (yet)."""
        if self.averaging_momentum is None or not self.built or not int(keras.ops.convert_to_numpy(self.iterations)):
            return None
        return self._averages()

    @abstractmethod
    def _averages(self) -> list[np.ndarray]:
        """Averages of the trainable weights after at least one update, in their order and shapes."""

    def _clipped(self, gradient: tf.Tensor, norm: tf.Tensor) -> tf.Tensor:
        """The gradient, no longer than `clip_norm`.

        Args:
            gradient: of the whole batch.
            norm: its L2 norm.
        """
        if self.clip_norm is None:
            return gradient
        return gradient * (self.clip_norm / tf.maximum(norm, self.clip_norm))

    @property
    def _share_of_old_average(self) -> tf.Tensor:
        assert self.averaging_momentum is not None
        return share_of_old_average(self.averaging_momentum, self.iterations.value)

    def _over_replicas(self, gradients: Sequence[tf.Tensor]) -> tf.Tensor:
        """The sum of the gradients of all replicas, float32 `(parameters,)`."""
        with keras.name_scope(self.name):
            gradient = flat_vector(gradients)
            replica = tf.distribute.get_replica_context()
            if replica.num_replicas_in_sync == 1:
                return gradient
            total = replica.all_reduce(tf.distribute.ReduceOp.SUM, tf.cast(gradient, self.exchange_dtype))
            return tf.cast(total, gradient.dtype)

    def _accumulate(self, gradients: Sequence[tf.Tensor]) -> None:
        # The sum over replicas is made at every batch, because a checkpoint cannot store one part for each replica.
        gradient = self._over_replicas(gradients)
        with keras.name_scope(self.name):
            tf.distribute.get_replica_context().merge_call(self._add_to_sums, args=(gradient,))

    def _add_to_sums(self, strategy, gradient):
        def add(gradient_sum, weight_sum, weight, norm, gradient):
            norm.assign(tf.norm(gradient))  # a run ends before it saves a sum that is not finite
            gradient_sum.assign_add(weight * gradient)
            weight_sum.assign_add(weight)

        arguments = self._weight_sum.value, self.batch_weight.value, self.gradient_norm.value, gradient
        strategy.extended.update(self._gradient_sum.value, add, args=arguments, group=False)

    def _clear_sums(self, strategy):
        def clear(variable):
            variable.assign(tf.zeros_like(variable))

        for variable in (self._gradient_sum, self._weight_sum):
            strategy.extended.update(variable.value, clear, group=False)


def _check_gradients(gradients: Sequence[Any], weights: Sequence[keras.Variable]) -> None:
    """Raise a ValueError if a weight has no gradient. Keras only warns."""
    without = [weight.path for weight, gradient in zip(weights, gradients, strict=True) if gradient is None]
    if without:
        raise ValueError(f"Weights without a gradient: {', '.join(without)}. The loss must depend on all weights.")
