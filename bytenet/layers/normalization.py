"""Normalisations with a trained offset and no gain: over the real steps of a batch, or over the channels of a step.

The gain is left out because a ReLU and a linear map follow, which absorb it (Madsen 2017, section 2.6.3).

Both have their gradient written out (Madsen 2017, appendix B): what automatic differentiation makes of the moments
takes twice as many passes over memory, and normalisation was a third of a training step that is not compiled. A
step takes a tenth less time for it, and a fifth less to compile.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import keras
from keras import ops

from bytenet.private_api import all_layers


@keras.saving.register_keras_serializable("bytenet")
class MaskedBatchNormalization(keras.layers.Layer):
    """Batch normalisation over batch and time with a trained offset and no gain.

    Mask: only steps where it is true enter the statistics; all steps are normalised, and padded ones come out
    with values of no meaning. A batch without any real step leaves the running statistics as they are.

    Args:
        epsilon: added to the variance.
        momentum: share of the old running statistics that each training step keeps.
        synchronized: take the statistics over all replicas of a `tf.distribute` strategy, so that a batch
            split over devices is normalised as a whole one (TensorFlow backend only).

    Attributes:
        training_statistics: normalise with the statistics of the batch even when not training, as the thesis's
            code does in its metrics and its search; false at first, and meant to be set for a while from outside.

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
            weights = ops.ones_like(values[..., :1]) if mask is None else ops.cast(mask, "float32")[..., None]
            standardized, mean, variance, count = self._standardize(values, weights)
            if training:
                keep = ops.where(count > 0, self.momentum, 1.0)
                self.moving_mean.assign(keep * self.moving_mean + (1 - keep) * mean)
                self.moving_variance.assign(keep * self.moving_variance + (1 - keep) * variance)
        else:
            standardized = (values - self.moving_mean) * ops.rsqrt(self.moving_variance + self.epsilon)
        return ops.cast(standardized + self.beta, self.compute_dtype)

    def _standardize(self, values, weights):
        """Give the real steps mean 0 and variance 1, and the others the same change.

        Args:
            values: float32 `(..., channels)`.
            weights: float32 `(..., 1)`, 1 at real steps and 0 elsewhere.

        Returns:
            The changed values; mean and variance `(channels,)`; and the number of real steps, up to a factor.
        """
        count = self._total(weights)
        shares = weights / ops.where(count > 0, count, 1.0)  # of sum 1
        constants = ops.stop_gradient(values)
        mean = self._total(constants * shares)
        variance = self._total(ops.square(constants - mean) * shares)

        @ops.custom_gradient
        def standardize(values, shares, mean, inverse_deviation):
            outputs = (values - mean) * inverse_deviation

            def gradient(*arguments, upstream=None):
                (upstream,) = arguments if upstream is None else (upstream,)
                # Each value also moves the mean and the deviation that all values are changed by.
                with _gradient_scope(self):
                    by_mean = self._total(upstream)
                    by_deviation = self._total(upstream * outputs)
                    to_values = inverse_deviation * (upstream - shares * (by_mean + outputs * by_deviation))
                return to_values, *map(ops.zeros_like, (shares, mean, inverse_deviation))

            return outputs, gradient

        standardized = standardize(values, shares, mean, ops.rsqrt(variance + self.epsilon))
        return standardized, mean, variance, count

    def _total(self, values):
        """The sum over all but channels, and over all replicas, up to a factor that is the same for all sums."""
        axes = tuple(range(len(values.shape) - 1))
        if self.synchronized:  # a mean over replicas, which have equal shapes
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
    """Layer normalisation over the channels of each step with a trained offset and no gain.

    The same numbers as `keras.layers.LayerNormalization(scale=False)`.

    Mask: none is needed, as each step is looked at alone.

    Args:
        epsilon: added to the variance.

    Input: float `(..., channels)`.
    """

    def __init__(self, epsilon: float = 1e-5, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.epsilon = epsilon

    def build(self, input_shape):
        self.beta = self.add_weight(name="beta", shape=(input_shape[-1],), initializer="zeros", autocast=False)

    def call(self, inputs):
        @ops.custom_gradient
        def standardize(values):
            centred = values - _channel_mean(values)
            inverse_deviation = ops.rsqrt(_channel_mean(ops.square(centred)) + self.epsilon)
            outputs = centred * inverse_deviation

            def gradient(*arguments, upstream=None):
                (upstream,) = arguments if upstream is None else (upstream,)
                with _gradient_scope(self):
                    by_mean = _channel_mean(upstream)
                    by_deviation = _channel_mean(upstream * outputs)
                    return inverse_deviation * (upstream - by_mean - outputs * by_deviation)

            return outputs, gradient

        return ops.cast(standardize(ops.cast(inputs, "float32")) + self.beta, self.compute_dtype)

    def get_config(self):
        return super().get_config() | {"epsilon": self.epsilon}


@contextmanager
def batch_norm_statistics(model: keras.Model, which: str) -> Iterator[None]:
    """Inside, batch normalisation takes the statistics of the batch (`which` is "batch") or its running ones."""
    layers = [layer for layer in all_layers(model) if isinstance(layer, MaskedBatchNormalization)]
    for layer in layers:
        layer.training_statistics = which == "batch"
    try:
        yield
    finally:
        for layer in layers:
            layer.training_statistics = False


@contextmanager
def _gradient_scope(layer):
    """Name operations as TensorFlow names those of a gradient that it derives, so that profiles can place them."""
    with ExitStack() as scopes:
        for name in ("gradient_tape", *layer.path.split("/")):
            scopes.enter_context(keras.name_scope(name))
        yield


def _channel_mean(values):
    return ops.mean(values, axis=-1, keepdims=True)


def make_normalization(kind: str, epsilon: float, momentum: float, **kwargs) -> keras.layers.Layer | None:
    """A normalisation layer by its kind: "batch", "layer", or None for "none"; `momentum` is for "batch"."""
    if kind == "batch":
        return MaskedBatchNormalization(epsilon=epsilon, momentum=momentum, **kwargs)
    if kind == "layer":
        return LayerNormalization(epsilon=epsilon, **kwargs)
    if kind == "none":
        return None
    raise ValueError(f"Unknown normalisation {kind!r}; known are batch, layer, none.")
