"""Normalisation of real steps only, and the pair normalisation → activation that ByteNet puts everywhere."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("bytenet")
class MaskedBatchNormalization(keras.layers.Layer):
    """Batch normalisation over batch and time with a trained offset and no gain.

    The gain is left out because a ReLU and a linear map follow, which absorb it (Madsen 2017, section 2.6.3).

    Mask: only steps where it is true enter the statistics; all steps are normalised, and padded ones come out
    with values of no meaning. A batch without any real step leaves the running statistics as they are.

    Args:
        epsilon: added to the variance.
        momentum: share of the old running statistics that each training step keeps.
        synchronized: take the statistics over all replicas of a `tf.distribute` strategy, so that a batch
            split over devices is normalised as a whole one (TensorFlow backend only).
        training_statistics: normalise with the statistics of the batch even when not training, as the thesis's
            code does in its metrics and its search. Meant to be set for a while from outside.

    Input: float `(batch, length, channels)` or `(batch, channels)`; mask bool, the same without channels.
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
        self.beta = self.add_weight(name="beta", shape=channels, initializer="zeros", autocast=False)
        self.moving_mean = self.add_weight(
            name="moving_mean", shape=channels, initializer="zeros", trainable=False, autocast=False
        )
        self.moving_variance = self.add_weight(
            name="moving_variance", shape=channels, initializer="ones", trainable=False, autocast=False
        )

    def call(self, inputs, mask=None, training=False):
        values = ops.cast(inputs, "float32")
        if training or self.training_statistics:
            mean, variance, count = self._batch_statistics(values, mask)
            if training:
                keep = ops.where(count > 0, self.momentum, 1.0)
                self.moving_mean.assign(keep * self.moving_mean + (1 - keep) * mean)
                self.moving_variance.assign(keep * self.moving_variance + (1 - keep) * variance)
        else:
            mean, variance = self.moving_mean, self.moving_variance
        outputs = (values - mean) * ops.rsqrt(variance + self.epsilon) + self.beta
        return ops.cast(outputs, self.compute_dtype)

    def _batch_statistics(self, values, mask):
        """Mean and variance a channel over the real steps, and their number (at least a tiny one)."""
        axes = tuple(range(len(values.shape) - 1))
        weights = ops.ones_like(values[..., :1]) if mask is None else ops.cast(mask, "float32")[..., None]

        def total(x):
            if self.synchronized:  # the mean over all replicas, which have equal shapes, is a total but for a factor
                return ops.moments(x, axes, synchronized=True)[0]
            return ops.sum(x, axis=axes)

        count = total(weights)
        divisor = ops.where(count > 0, count, 1.0)
        mean = total(values * weights) / divisor
        variance = total(ops.square(values - mean) * weights) / divisor
        return mean, variance, count

    def get_config(self):
        return super().get_config() | {
            "epsilon": self.epsilon,
            "momentum": self.momentum,
            "synchronized": self.synchronized,
        }


def make_normalization(kind: str, epsilon: float, momentum: float, **kwargs) -> keras.layers.Layer | None:
    """A normalisation layer by its kind: "batch", "layer", or None for "none"; `momentum` is for "batch"."""
    if kind == "batch":
        return MaskedBatchNormalization(epsilon=epsilon, momentum=momentum, **kwargs)
    if kind == "layer":
        return keras.layers.LayerNormalization(epsilon=epsilon, scale=False, **kwargs)
    if kind == "none":
        return None
    raise ValueError(f"Unknown normalisation {kind!r}; known are batch, layer, none.")


@keras.saving.register_keras_serializable("bytenet")
class NormalizedActivation(keras.layers.Layer):
    """Normalisation, then activation; the activation alone where `normalization` is "none".

    Mask: given to batch normalisation; layer normalisation looks at each step alone and needs none.

    Args:
        normalization: "batch", "layer" or "none".
        activation: "relu" or "selu".
        epsilon: added to the variance.
        momentum: of the running statistics of batch normalisation.
    """

    def __init__(self, normalization: str, activation: str, epsilon: float = 1e-5, momentum: float = 0.99, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.kind = normalization
        self.activation_name = activation
        self.epsilon = epsilon
        self.momentum = momentum
        self.normalization = make_normalization(
            normalization, epsilon, momentum, name="normalization", dtype=self.dtype_policy
        )
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        if self.normalization is not None:
            self.normalization.build(input_shape)

    def call(self, inputs, mask=None, training=False):
        if self.kind == "batch":
            inputs = self.normalization(inputs, mask=mask, training=training)
        elif self.kind == "layer":
            inputs = self.normalization(inputs)
        return self.activation(inputs)

    def get_config(self):
        return super().get_config() | {
            "normalization": self.kind,
            "activation": self.activation_name,
            "epsilon": self.epsilon,
            "momentum": self.momentum,
        }
