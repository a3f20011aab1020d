"""Faster forms of layers, and the one place that makes them for networks.

A fast form gives the numbers of its plain form; tests compare the two. Dropout is the exception: it draws other
random numbers with the same probabilities. The plain forms are `bytenet.layers.normalization`,
`bytenet.layers.convolution`, and Keras's own `Dropout` and `AlphaDropout`.
"""

from bytenet.layers.fast.choice import apply_dropout, make_dropout, make_normalization, use_tap_products
from bytenet.layers.fast.dropout import HashedAlphaDropout, HashedDropout
from bytenet.layers.fast.normalization import FastBatchNormalization, FastLayerNormalization

__all__ = [
    "FastBatchNormalization",
    "FastLayerNormalization",
    "HashedAlphaDropout",
    "HashedDropout",
    "apply_dropout",
    "make_dropout",
    "make_normalization",
    "use_tap_products",
]
