"""The linear maps and convolutions of ConvS2S, with their initial weights."""

import keras

from bytenet.layers.convolution import DilatedConvolution
from bytenet.layers.gated.weight_normalization import WeightNormalizedConvolution


def make_map(
    filters: int,
    kernel_size: int = 1,
    causal: bool = False,
    weight_normalization: bool = True,
    kept_share: float = 1.0,
    gated: bool = False,
    **kwargs,
) -> DilatedConvolution:
    """A linear map, or a convolution, whose output has about the variance of its input at the start of a training.

    The initial weights are normal with variance `kept_share / n`, where n is the number of inputs of a filter, taps
    times channels. A gated linear unit divides the variance of small values by 4, so the weights before it have four
    times this variance. Biases are zero.

    Args:
        filters: channels of the output.
        kernel_size: number of taps.
        causal: whether a convolution sees no later inputs.
        weight_normalization: whether the kernel is a direction times a trained length.
        kept_share: share of the inputs that the dropout directly before keeps; 1 if there is none.
        gated: whether a gated linear unit follows.
        **kwargs: arguments of every Keras layer, such as `name`.

    Reference:
        Gehring et al. 2017, section 3.5 and appendix A.
    """
    initializer = keras.initializers.VarianceScaling(
        4 * kept_share if gated else kept_share, mode="fan_in", distribution="untruncated_normal"
    )
    layer = WeightNormalizedConvolution if weight_normalization else DilatedConvolution
    return layer(filters, kernel_size, causal=causal, kernel_initializer=initializer, **kwargs)
