"""Convolutions whose kernels are directions times trained lengths."""

import keras
from keras import ops

from bytenet.layers.convolution import DilatedConvolution


@keras.saving.register_keras_serializable("bytenet")
class WeightNormalizedConvolution(DilatedConvolution):
    """A convolution with the kernel `g · v / ‖v‖`. With one tap, it is a linear map.

    The norm of v is taken for each filter, over taps and input channels. The length of v has no effect, and the
    gradient of v is orthogonal to v. At the start, `g = ‖v‖`, so the kernel equals its initial value v. Norm and
    gain are float32 with every dtype policy.

    Weights: `kernel`, which is v; `gain`, which is g, `(filters,)`; `bias`.

    Mask, arguments, input and output are those of `DilatedConvolution`.

    Reference:
        Salimans and Kingma 2016; Gehring et al. 2017, section 3.5.
    """

    _autocast_kernel = False  # in mixed precision, only the normalised kernel is rounded

    def build(self, input_shape):
        super().build(input_shape)
        self.gain = self.add_weight(
            name="gain", shape=(self.filters,), initializer=lambda shape, dtype: self._norms(),
            dtype="float32", autocast=False,
        )  # fmt: skip

    def taps(self):
        kernel = ops.cast(self.kernel, "float32")
        return ops.cast(kernel * (self.gain / self._norms()), self.compute_dtype)

    def _norms(self):
        """The norm of the kernel of each filter: float32 `(filters,)`."""
        return ops.sqrt(ops.sum(ops.square(ops.cast(self.kernel, "float32")), axis=(0, 1)))
