"""A dilated convolution as one matrix product."""

from keras import ops


def product_of_taps(padded, kernel, dilation_rate: int, length, left: int):
    """The convolution of zero-padded inputs, as one product of the kernel with the inputs of all taps side by side.

    Arguments and result are those of `bytenet.layers.convolution.convolve_taps`. Taps that see only the zeros around a
    short input are left out, if the length is known.
    """
    kernel_size, _, filters = kernel.shape
    begins = [tap * dilation_rate for tap in range(kernel_size)]
    if isinstance(length, int):
        begins = [begin for begin in begins if abs(begin - left) < length]
    taps = ops.concatenate([padded[:, begin : begin + length] for begin in begins], axis=-1)
    first = begins[0] // dilation_rate
    kernel = ops.convert_to_tensor(kernel)[first : first + len(begins)]
    return ops.matmul(taps, ops.reshape(kernel, (-1, filters)))  # (batch, length, filters)
