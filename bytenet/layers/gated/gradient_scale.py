"""A scale for gradients alone."""

from keras import ops


def scale_gradient(values, scale: float):
    """The same values. Gradients are multiplied by `scale` on their way back.

    Args:
        values: float tensor of any shape.
        scale: factor of the gradient.
    """
    constant = ops.stop_gradient(values)
    # The difference is exactly 0, so the values do not change, not even by rounding.
    return constant + (values - constant) * ops.cast(scale, values.dtype)
