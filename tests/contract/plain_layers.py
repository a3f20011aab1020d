"""Networks of plain layers, to compare the fast ones with."""

from unittest.mock import patch

from bytenet.layers import LayerNormalization, MaskedBatchNormalization
from bytenet.layers.fast import choice


def plain_layers():
    """A context: networks that are made inside have plain normalisation."""
    return patch.multiple(
        choice, FastBatchNormalization=MaskedBatchNormalization, FastLayerNormalization=LayerNormalization
    )
