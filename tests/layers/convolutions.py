"""Dilated convolutions of many shapes."""

from hypothesis import strategies as st

from bytenet.layers import DilatedConvolution

from .random_weights import with_random_weights

LAYERS = st.tuples(
    st.integers(1, 3),  # filters
    st.integers(1, 5),  # kernel size
    st.integers(1, 6),  # dilation rate
    st.booleans(),  # causal
)


def make_layer(filters, kernel_size, dilation_rate, causal, channels, use_bias=True):
    """A layer with random weights, including the bias."""
    layer = DilatedConvolution(filters, kernel_size, dilation_rate, causal, use_bias)
    layer.build((None, None, channels))
    return with_random_weights(layer)
