"""Dilated one-dimensional convolution, centred or causal."""

import keras
from keras import ops


def convolve_taps(padded, kernel, dilation_rate: int, length, left: int):
    """The convolution of zero-padded inputs.

    Args:
        padded: float `(batch, length + reach, channels)`.
        kernel: float `(kernel_size, channels, filters)`.
        dilation_rate: steps between neighbouring taps.
        length: number of output steps, an int or a scalar tensor. Not used here.
        left: number of zeros before the inputs. Not used here.

    Returns:
        float `(batch, length, filters)`.
    """
    return ops.conv(padded, kernel, padding="valid", dilation_rate=dilation_rate)


@keras.saving.register_keras_serializable("bytenet")
class DilatedConvolution(keras.layers.Layer):
    """Convolution over time whose taps lie `dilation_rate` steps apart; the length stays the same.

    Centred: output t sees inputs t − p·r … t + q·r with p = ⌊(k − 1) / 2⌋ and q = ⌊k / 2⌋ (kernel size k, dilation
    rate r). With an even k, there is one tap more on the right.
    Causal: output t sees inputs t − (k − 1)·r … t, never a later one. The missing ends count as zero.

    Mask: passed on, not used. If padding must not reach real steps, the caller sets padded input steps to zero first.

    Attributes:
        convolve: computes the outputs from the zero-padded inputs: `convolve_taps`, or a faster function with the
            same arguments and results (see `bytenet.layers.fast`).

    Args:
        filters: channels of the output.
        kernel_size: number of taps k.
        dilation_rate: steps r between neighbouring taps.
        causal: whether outputs see no later inputs, see above.
        use_bias: adds a trained vector to each output step.
        kernel_initializer: for the kernel `(kernel_size, input channels, filters)`.

    Input: float `(batch, length, channels)`, or `(batch, channels)` for a single tap. Output: the same with
    `filters` channels.

    Raises:
        ValueError: `filters`, `kernel_size` or `dilation_rate` is below 1.

    Reference:
        Madsen 2017, sections 2.3.3 and 2.6.1; Kalchbrenner et al. 2016, section 3.
    """

    _autocast_kernel = True  # whether the kernel has the compute dtype in `call`

    def __init__(
        self,
        filters: int,
        kernel_size: int,
        dilation_rate: int = 1,
        causal: bool = False,
        use_bias: bool = True,
        kernel_initializer="he_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        for argument, value in (("filters", filters), ("kernel_size", kernel_size), ("dilation_rate", dilation_rate)):
            if value < 1:
                raise ValueError(f"{argument} is {value}; expected 1 or more.")
        self.supports_masking = True
        self.filters = filters
        self.kernel_size = kernel_size
        self.dilation_rate = dilation_rate
        self.causal = causal
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.convolve = convolve_taps

    @property
    def reach(self) -> int:
        """Steps between the first and the last tap, (k − 1)·r."""
        return (self.kernel_size - 1) * self.dilation_rate

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name="kernel",
            shape=(self.kernel_size, input_shape[-1], self.filters),
            initializer=self.kernel_initializer,
            autocast=self._autocast_kernel,
        )
        self.bias = self.add_weight(name="bias", shape=(self.filters,), initializer="zeros") if self.use_bias else None

    def taps(self):
        """The kernel that multiplies the inputs: float `(kernel_size, channels, filters)`."""
        return self.kernel

    def call(self, inputs):
        kernel = self.taps()
        if self.kernel_size == 1:  # a matrix product, which also takes inputs without a time axis
            outputs = ops.matmul(inputs, kernel[0])
            return outputs if self.bias is None else outputs + self.bias
        left = self.reach if self.causal else (self.kernel_size - 1) // 2 * self.dilation_rate
        padded = ops.pad(inputs, [[0, 0], [left, self.reach - left], [0, 0]])
        length = inputs.shape[1] or ops.shape(inputs)[1]
        outputs = self.convolve(padded, kernel, self.dilation_rate, length, left)
        return outputs if self.bias is None else outputs + self.bias

    def present_kernel(self):
        """The tap at t of a causal convolution: float `(channels, filters)`, an argument of `step`."""
        return ops.cast(self.taps()[-1], self.compute_dtype)

    def past_kernel(self):
        """The other taps, oldest first: float `((kernel_size - 1) * channels, filters)`, for flattened past inputs."""
        rows = (self.kernel_size - 1) * self.kernel.shape[1]
        return ops.reshape(ops.cast(self.taps()[:-1], self.compute_dtype), (rows, self.filters))

    def step(self, inputs, present_kernel, from_past=None):
        """One output step of a causal convolution, or of a convolution with a single tap.

        The kernel comes in two parts, which are cut once for all steps. The inputs at earlier steps are known in
        advance, so one product can serve the past taps of many layers.

        Args:
            inputs: float `(batch, channels)`, at time t.
            present_kernel: the result of `present_kernel()`.
            from_past: float `(batch, filters)`, flattened inputs t − (k − 1)·r, …, t − r times `past_kernel()`;
                None for a single tap.

        Returns:
            float `(batch, filters)`, equal to `call(...)[:, t]`.
        """
        with keras.name_scope(self.name):  # the scope of `call`, for profiles
            outputs = ops.matmul(ops.cast(inputs, self.compute_dtype), present_kernel)
            outputs = outputs if from_past is None else outputs + from_past
            return outputs if self.bias is None else outputs + ops.cast(self.bias, self.compute_dtype)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.filters)

    def get_config(self):
        return super().get_config() | {
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "dilation_rate": self.dilation_rate,
            "causal": self.causal,
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }
