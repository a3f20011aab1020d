"""Training steps on several replicas, on one machine or on many, and their measurements in one reduction."""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from bytenet.training.distribution.agreement import Agreement
from bytenet.training.distribution.batch_statistics import average_statistics
from bytenet.training.optimizers.flat_gradients import apply_flat_gradient, flat_gradient

ReplicaStep = Callable[..., dict[str, tf.Tensor]]
"""A step on one replica's rows of a batch. It gives the measurements, each a float32 scalar."""


def replicated_step(
    strategy: tf.distribute.Strategy, step: ReplicaStep, agreement: Agreement, relax_shapes: bool
) -> ReplicaStep:
    """A step on all replicas, and their mean measurements.

    The means of the measurements, and what the workers must agree upon, are joined into one vector and reduced once,
    because on a network few messages are faster than many small ones.

    Args:
        strategy: of the model.
        step: of one replica.
        agreement: of the workers; it is sent and received with every step.
        relax_shapes: one trace serves batches of all shapes. Otherwise each shape has its own.

    Returns:
        A function with the arguments of `step`, distributed, and the mean measurements.
    """
    names: list[str] = []
    replicas = strategy.num_replicas_in_sync
    local_replicas = max(1, len(strategy.extended.worker_devices))

    def step_and_pack(own: tf.Tensor, arguments: tuple[Any, ...]) -> tf.Tensor:
        measurements = step(*arguments)
        names[:] = measurements
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        # Each worker counts once.
        own = tf.where(tf.equal(number % local_replicas, 0), own, tf.zeros_like(own))
        means = tf.stack([tf.cast(value, tf.float32) for value in measurements.values()]) / replicas
        return tf.concat([means, own], axis=0)

    @tf.function(autograph=False, reduce_retracing=relax_shapes)
    def run(own: tf.Tensor, arguments: tuple[Any, ...]) -> tf.Tensor:
        return strategy.reduce("SUM", strategy.run(step_and_pack, args=(own, arguments)), axis=None)

    def run_and_agree(*arguments: Any) -> dict[str, tf.Tensor]:
        sums = run(tf.constant(agreement.local_values, tf.float32), arguments).numpy()
        agreement.agree(sums[len(names) :].tolist())
        return dict(zip(names, sums[: len(names)], strict=True))

    return run_and_agree


def supervised_step(model: keras.Model, agreement: Agreement) -> Callable[[Any], dict[str, Any]]:
    """The function that `fit` calls for each step of a compiled model on pairs: iterator over batches → measurements.

    Args:
        model: compiled and built.
        agreement: of the workers.
    """
    step = replicated_step(model.distribute_strategy, _replica_step(model), agreement, relax_shapes=True)
    return lambda batches: step(next(batches))


def _replica_step(model: keras.Model) -> ReplicaStep:
    """The step of a compiled model on one replica's pairs.

    XLA compiles the loss and its gradient, but not the update, for which the replicas wait for each other. So layers
    must not wait for each other either: batch normalisation over all replicas cannot be compiled.
    """
    if not model.jit_compile:

        def plain_step(batch):
            measurements = model.train_step(batch)
            average_statistics(model)
            return measurements

        return plain_step

    @tf.function(jit_compile=True, autograph=False)
    def gradient_and_measurements(inputs, target_ids, weights):
        with tf.GradientTape() as tape:
            logits = model(inputs, training=True)
            # Keras divides the loss by the number of replicas.
            loss = model.compute_loss(x=inputs, y=target_ids, y_pred=logits, sample_weight=weights, training=True)
        measured = loss * model.distribute_strategy.num_replicas_in_sync
        mean_loss = next(metric for metric in model.metrics if metric.name == "loss")
        mean_loss.update_state(measured, sample_weight=tf.shape(target_ids)[0])
        measurements = model.compute_metrics(inputs, target_ids, logits, sample_weight=weights)
        return flat_gradient(tape, loss, model), measurements

    def step(batch):
        gradient, measurements = gradient_and_measurements(*batch)
        apply_flat_gradient(model, gradient)
        average_statistics(model)
        return measurements

    return step
