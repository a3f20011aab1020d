"""Normalisations with a trained offset: over the real steps of a batch, or over the channels of a step.

The normalisations of ByteNet's blocks have no gain: the ReLU and the linear map after them would absorb it (Madsen
2017, section 2.4.1). Weights and statistics are float32 with every dtype policy.
`bytenet.layers.fast.normalization` has the same layers with faster gradients; networks use those.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import keras
from keras import ops

from bytenet.private_api import all_layers


@keras.saving.register_keras_serializable("bytenet")
class MaskedBatchNormalization(keras.layers.Layer):
    """Batch normalisation over batch and time with a trained offset and no gain.

    Mask: true at real steps. The statistics count real steps only. All steps are normalised, but the outputs at padded
    steps mean nothing. A batch without real steps does not change the running statistics. As in Keras, a layer with
    `trainable` false uses the running statistics in training, too, and does not change them.

    Args:
        epsilon: added to the variance.
        momentum: share of the old running statistics that each training step keeps.
        synchronized: take the statistics over all replicas of a `tf.distribute` strategy (TensorFlow backend only).
            A batch that is split over devices then gets the statistics of the whole batch.

    Attributes:
        training_statistics: use the statistics of the batch outside of training, too, as the thesis's code does in its
            metrics and its search. False by default; `batch_norm_statistics` sets it for a while.

    Input: float `(batch, length, channels)` or `(batch, channels)`; mask bool, the same without channels. Output: the
    shape of the input, in the compute dtype.

    Reference:
        Ioffe and Szegedy 2015; Madsen 2017, section 2.4.1.
    """

    def __init__(self, epsilon: float = 1e-5, momentum: float = 0.99, synchronized: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.epsilon = epsilon
        self.momentum = momentum
        self.synchronized = synchronized
        self.training_statistics = False

    def build(self, input_shape):
        channels = (input_shape[-1],)
        self.beta = self.add_weight(name="beta", shape=channels, initializer="zeros", dtype="float32", autocast=False)
        self.moving_mean = self.add_weight(
            name="moving_mean", shape=channels, initializer="zeros", trainable=False, dtype="float32", autocast=False
        )
        self.moving_variance = self.add_weight(
            name="moving_variance", shape=channels, initializer="ones", trainable=False, dtype="float32", autocast=False
        )

    def call(self, inputs, mask=None, training=False):
        values = ops.cast(inputs, "float32")
        learns = training and self.trainable
        if learns or self.training_statistics:
            weights = ops.ones_like(values[..., :1]) if mask is None else ops.cast(mask, "float32")[..., None]
            count = self._total(weights)
            shares = weights / ops.where(count > 0, count, 1.0)  # sum to 1 over the real steps
            standardized, mean, variance = self._standardize(values, shares)
            if learns:
                keep = ops.where(count > 0, self.momentum, 1.0)
                self.moving_mean.assign(keep * self.moving_mean + (1 - keep) * mean)
                self.moving_variance.assign(keep * self.moving_variance + (1 - keep) * variance)
        else:
            standardized = (values - self.moving_mean) * ops.rsqrt(self.moving_variance + self.epsilon)
        return ops.cast(standardized + self.beta, self.compute_dtype)

    def compute_output_shape(self, input_shape):
        return input_shape

    def _standardize(self, values, shares):
        """Give the real steps mean 0 and variance 1, and change the other steps in the same way.

        Args:
            values: float32 `(..., channels)`.
            shares: float32 `(..., 1)`, of sum 1; 0 at padded steps.

        Returns:
            The standardised values; their mean and variance, float32 `(channels,)`.
        """
        mean = self._total(values * shares)
        variance = self._total(ops.square(values - mean) * shares)
        return (values - mean) * ops.rsqrt(variance + self.epsilon), mean, variance

    def _total(self, values):
        """The sum over all axes but channels.

        With `synchronized`, the sum is also over all replicas, and all sums are divided by the same number.
        """
        axes = tuple(range(len(values.shape) - 1))
        if self.synchronized:  # the mean over replicas, which have equal shapes
            return ops.moments(values, axes, synchronized=True)[0]
        return ops.sum(values, axis=axes)

    def get_config(self):
        return super().get_config() | {
            "epsilon": self.epsilon,
            "momentum": self.momentum,
            "synchronized": self.synchronized,
        }


@keras.saving.register_keras_serializable("bytenet")
class LayerNormalization(keras.layers.Layer):
    """Layer normalisation over the channels of each step with a trained offset, and a trained gain if `scale` is set.

    The same numbers as `keras.layers.LayerNormalization`.

    Mask: not needed; each step is normalised alone.

    Args:
        epsilon: added to the variance.
        scale: whether each channel has a gain.

    Input: float `(..., channels)`. Output: the shape of the input, in the compute dtype.

    Reference:
        Ba et al. 2016.
    """

    def __init__(self, epsilon: float = 1e-5, scale: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.epsilon = epsilon
        self.scale = scale

    def build(self, input_shape):
        channels = (input_shape[-1],)
        self.beta = self.add_weight(name="beta", shape=channels, initializer="zeros", dtype="float32", autocast=False)
        if self.scale:
            self.gamma = self.add_weight(
                name="gamma", shape=channels, initializer="ones", dtype="float32", autocast=False
            )

    def call(self, inputs):
        standardized = self._standardize(ops.cast(inputs, "float32"))
        outputs = standardized * self.gamma + self.beta if self.scale else standardized + self.beta
        return ops.cast(outputs, self.compute_dtype)

    def compute_output_shape(self, input_shape):
        return input_shape

    def _standardize(self, values):
        """Give the channels of each step mean 0 and variance 1; float32 `(..., channels)`."""
        centred = values - channel_mean(values)
        return centred * ops.rsqrt(channel_mean(ops.square(centred)) + self.epsilon)

    def get_config(self):
        return super().get_config() | {"epsilon": self.epsilon, "scale": self.scale}


@contextmanager
def batch_norm_statistics(model: keras.Model, which: str) -> Iterator[None]:
    """Choose the statistics that batch normalisation uses inside the context. After it, each layer is as before.

    Args:
        model: whose layers are set.
        which: "batch" for the statistics of each batch, "moving" for the running statistics.

    Raises:
        ValueError: `which` is neither of them.
    """
    if which not in ("batch", "moving"):
        raise ValueError(f"Unknown statistics {which!r}; known are batch, moving.")
    layers = [layer for layer in all_layers(model) if isinstance(layer, MaskedBatchNormalization)]
    before = [layer.training_statistics for layer in layers]
    for layer in layers:
        layer.training_statistics = which == "batch"
    try:
        yield
    finally:
        for layer, statistics in zip(layers, before, strict=True):
            layer.training_statistics = statistics


def channel_mean(values):
    """The mean over channels: float `(..., channels)` → `(..., 1)`."""
    return ops.mean(values, axis=-1, keepdims=True)
