"""The layers that settings choose, in their fast forms."""

import keras

from bytenet.layers.convolution import DilatedConvolution
from bytenet.layers.fast.dropout import HashedAlphaDropout, HashedDropout
from bytenet.layers.fast.normalization import FastBatchNormalization, FastLayerNormalization
from bytenet.layers.fast.tap_products import product_of_taps
from bytenet.private_api import all_layers

# Up to this width, a product of taps is faster than a convolution on a CPU, compiled by XLA.
_WIDEST_PRODUCT = 32


def make_normalization(
    kind: str, epsilon: float, momentum: float = 0.99, scale: bool = False, **kwargs
) -> keras.layers.Layer | None:
    """A normalisation layer.

    Args:
        kind: "batch", "layer" or "none".
        epsilon: added to the variance.
        momentum: of the running statistics; for "batch" only.
        scale: whether each channel has a gain; for "layer" only.
        **kwargs: arguments of every Keras layer, such as `name`.

    Returns:
        The layer; None for "none".

    Raises:
        ValueError: for an unknown `kind`.
    """
    if kind == "batch":
        return FastBatchNormalization(epsilon=epsilon, momentum=momentum, **kwargs)
    if kind == "layer":
        return FastLayerNormalization(epsilon=epsilon, scale=scale, **kwargs)
    if kind == "none":
        return None
    raise ValueError(f"Unknown normalisation {kind!r}; known are batch, layer, none.")


def make_dropout(rate: float, alpha: bool = False, **kwargs) -> keras.layers.Layer | None:
    """A dropout layer.

    Args:
        rate: share of the units dropped in training.
        alpha: alpha dropout, for the outputs of SELU.
        **kwargs: arguments of every Keras layer, such as `name`.

    Returns:
        The layer; None for rate 0.

    Raises:
        ValueError: `rate` is below 0, or is 1 or more.
    """
    if not rate:
        return None
    return (HashedAlphaDropout if alpha else HashedDropout)(rate, **kwargs)


def apply_dropout(layer: keras.layers.Layer | None, values, training: bool):
    """The values after a dropout layer of `make_dropout`, which may be None."""
    return values if layer is None else layer(values, training=training)


def use_tap_products(model: keras.Model, on_gpu: bool = False) -> None:
    """Compute the convolutions of a model as one product each where this is faster. Do this for training with XLA.

    Compiled for a CPU, a product takes .7 to .3 of the time of a narrow convolution, gradients included. Not compiled,
    it takes up to twice as long. On a GPU, products were faster for a wide model, too: with JAX on an H200, a step of
    ByteNet with a width of 160 took 12 ms with products and 23 ms with convolutions.

    Args:
        model: whose convolutions are changed.
        on_gpu: change all convolutions, not only narrow ones.
    """
    for layer in all_layers(model):
        if isinstance(layer, DilatedConvolution) and (on_gpu or layer.filters <= _WIDEST_PRODUCT):
            layer.convolve = product_of_taps
