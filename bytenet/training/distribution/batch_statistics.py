"""The statistics of batch normalisation on several replicas."""

import keras
import tensorflow as tf

from bytenet.layers import MaskedBatchNormalization
from bytenet.private_api import all_layers
from bytenet.training.optimizers.flat_gradients import flat_vector, parts_like


def synchronize_batch_normalization(model: keras.Model) -> None:
    """Let batch normalisation compute its statistics over all replicas, that is, over the whole batch."""
    for layer in all_layers(model):
        if isinstance(layer, MaskedBatchNormalization):
            layer.synchronized = True


def average_statistics(model: keras.Model) -> None:
    """Give all replicas the mean of their running statistics, in one exchange. Called on each replica after a step.

    Layers whose statistics are synchronised have equal ones already.
    """
    replica = tf.distribute.get_replica_context()
    layers = [one for one in all_layers(model) if isinstance(one, MaskedBatchNormalization) and not one.synchronized]
    statistics = [variable for layer in layers for variable in (layer.moving_mean, layer.moving_variance)]
    if replica.num_replicas_in_sync == 1 or not statistics:
        return
    own = flat_vector([variable.value for variable in statistics])
    means = replica.all_reduce(tf.distribute.ReduceOp.MEAN, own)
    for variable, mean in zip(statistics, parts_like(means, statistics), strict=True):
        variable.assign(mean)
