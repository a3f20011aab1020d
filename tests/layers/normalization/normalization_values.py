"""Random values, and the gradients of layers that normalise them."""

import numpy as np
import tensorflow as tf

from bytenet.layers import MaskedBatchNormalization
from bytenet.layers.fast import FastBatchNormalization

EPSILON = 1e-3
# The plain layers, and the layers with hand-written gradients.
BATCH = (MaskedBatchNormalization, FastBatchNormalization)


def random_values(*shape, seed=0):
    return np.random.default_rng(seed).normal(2.0, 3.0, size=shape).astype("float32")


def gradients(layer, values, upstream, **arguments):
    """Outputs, and the gradients of the sum of outputs times `upstream` with respect to input and offset."""
    values = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(values)
        outputs = layer(values, **arguments)
        loss = tf.reduce_sum(outputs * upstream)
    return outputs, *tape.gradient(loss, [values, layer.beta.value])
