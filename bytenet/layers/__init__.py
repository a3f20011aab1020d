"""Keras layers of the models, written in `keras.ops`: they run on every Keras backend. `fast` has faster forms."""

from bytenet.layers.convolution import DilatedConvolution
from bytenet.layers.embedding import ZeroPaddedEmbedding
from bytenet.layers.initializers import ThesisCodeUniform, initializers_for
from bytenet.layers.normalization import LayerNormalization, MaskedBatchNormalization, batch_norm_statistics
from bytenet.layers.residual.block import ResidualBlock
from bytenet.layers.residual.normalized_activation import NormalizedActivation
from bytenet.layers.residual.stack import ResidualSet, ResidualStack

__all__ = [
    "DilatedConvolution",
    "LayerNormalization",
    "MaskedBatchNormalization",
    "NormalizedActivation",
    "ResidualBlock",
    "ResidualSet",
    "ResidualStack",
    "ThesisCodeUniform",
    "ZeroPaddedEmbedding",
    "batch_norm_statistics",
    "initializers_for",
]
