"""Normalisation and activation, which come before every map of ByteNet."""

import keras

from bytenet.layers.fast import make_normalization


@keras.saving.register_keras_serializable("bytenet")
class NormalizedActivation(keras.layers.Layer):
    """Normalisation, then activation; only the activation if `normalization` is "none".

    Mask: used by batch normalisation only.

    Args:
        normalization: "batch", "layer" or "none".
        activation: "relu" or "selu".
        epsilon: added to the variance.
        momentum: of the running statistics of batch normalisation.

    Input and output: float `(..., channels)`; mask bool `(...)`.

    Raises:
        ValueError: `normalization` or `activation` is unknown.
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

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | {
            "normalization": self.kind,
            "activation": self.activation_name,
            "epsilon": self.epsilon,
            "momentum": self.momentum,
        }
