"""Keras layers of ByteNet; written in `keras.ops`, so they run on every Keras backend."""

from bytenet.layers.convolution import DilatedConvolution
from bytenet.layers.dropout import PairedAlphaDropout, PairedDropout
from bytenet.layers.embedding import ZeroPaddedEmbedding
from bytenet.layers.initializers import ThesisCodeUniform, initializers_for
from bytenet.layers.normalization import LayerNormalization, MaskedBatchNormalization
from bytenet.layers.normalized_activation import NormalizedActivation
from bytenet.layers.residual import ResidualBlock, ResidualSet, ResidualStack

__all__ = [
    "DilatedConvolution",
    "LayerNormalization",
    "MaskedBatchNormalization",
    "NormalizedActivation",
    "PairedAlphaDropout",
    "PairedDropout",
    "ResidualBlock",
    "ResidualSet",
    "ResidualStack",
    "ThesisCodeUniform",
    "ZeroPaddedEmbedding",
    "initializers_for",
]
