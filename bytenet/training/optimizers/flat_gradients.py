"""Gradients of all weights of a model as one vector, because passing hundreds of tensors takes time."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import keras
import tensorflow as tf


def flat_vector(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    """All values of tensors, float32 `(values,)`."""
    return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], axis=0)


def parts_like(vector: tf.Tensor, weights: Sequence[keras.Variable]) -> list[tf.Tensor]:
    """The values for each weight, in its shape.

    Args:
        vector: `(parameters,)`, in the order of the weights.
        weights: of a model.
    """
    parts = tf.split(vector, [math.prod(weight.shape) for weight in weights])
    return [tf.reshape(part, weight.shape) for part, weight in zip(parts, weights, strict=True)]


@contextmanager
def tape_if(learns: bool) -> Iterator[tf.GradientTape | None]:
    """A gradient tape if a model learns; otherwise None."""
    if not learns:
        yield None
        return
    with tf.GradientTape() as tape:
        yield tape


def flat_gradient(
    tape: tf.GradientTape, values: tf.Tensor, model: keras.Model, upstream: tf.Tensor | None = None
) -> tf.Tensor:
    """The gradient by all trainable weights of a model.

    Args:
        tape: recorded `values`.
        values: of any shape; their sum is differentiated.
        model: its weights.
        upstream: weights of the values in that sum, of their shape; ones by default.

    Returns:
        float32 `(parameters,)`, in the order of the weights; 0 for weights on which the values do not depend.
    """
    weights = [weight.value for weight in model.trainable_variables]
    gradients = tape.gradient(values, weights, upstream, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return flat_vector(gradients)


def apply_flat_gradient(model: keras.Model, gradient: tf.Tensor) -> None:
    """Update a model by its own optimiser.

    Args:
        model: compiled.
        gradient: float32 `(parameters,)`, in the order of `flat_gradient`.
    """
    weights = model.trainable_variables
    model.optimizer.apply(parts_like(gradient, weights), weights)
