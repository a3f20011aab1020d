"""ByteNet's residual block."""

import keras
from keras import ops

from bytenet.layers.convolution import DilatedConvolution
from bytenet.layers.fast import make_dropout
from bytenet.layers.initializers import initializers_for
from bytenet.layers.residual.normalized_activation import NormalizedActivation


@keras.saving.register_keras_serializable("bytenet")
class ResidualBlock(keras.layers.Layer):
    """One residual block around a dilated convolution, with normalisation and activation before each map.

    Full: norm-act, `reduce_dim` D → D/2, norm-act, `conv_dilated` D/2 → D/2, norm-act, `recover_dim` D/2 → D,
    plus the input. Small: norm-act, `conv_dilated` D → D, plus the input. A map has a bias exactly where no
    normalisation follows it.

    Mask: true at real steps. Batch normalisation counts those only, and the other steps are set to zero before
    a centred convolution, so that padding never reaches a real step. A causal block needs no mask, as
    padding comes last.

    Args:
        dim: width D of input and output.
        kernel_size: taps of the dilated convolution.
        dilation_rate: steps between taps.
        causal: whether the convolution sees past and present only (decoder) or both sides (encoder).
        size: "full" or "small".
        normalization: "batch", "layer" or "none".
        activation: "relu" or "selu".
        dropout: share of the units that are dropped in training: of the convolution's activated output, or of its input
            in a small block. SELU without normalisation gets alpha dropout, which keeps the variance of 1 that SELU
            works towards.
        epsilon, momentum: arguments of the normalisation.
        initializer: name of the scheme, see `initializers_for`.
        num_blocks: blocks in the stack; the initial scale of this block's output depends on it.

    Input and output: float `(batch, length, dim)`; mask bool `(batch, length)`.

    Raises:
        ValueError: `size`, `normalization`, `activation` or `initializer` is unknown.

    Reference:
        Madsen 2017, figures 2.6.1 and 3.4.1.
    """

    def __init__(
        self,
        dim: int,
        kernel_size: int,
        dilation_rate: int,
        causal: bool,
        size: str = "full",
        normalization: str = "layer",
        activation: str = "relu",
        dropout: float = 0.0,
        epsilon: float = 1e-5,
        momentum: float = 0.99,
        initializer: str = "auto",
        num_blocks: int = 1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        if size not in ("full", "small"):
            raise ValueError(f"Unknown block size {size!r}; known are full, small.")
        self._config = {
            "dim": dim, "kernel_size": kernel_size, "dilation_rate": dilation_rate, "causal": causal, "size": size,
            "normalization": normalization, "activation": activation, "dropout": dropout, "epsilon": epsilon,
            "momentum": momentum, "initializer": initializer, "num_blocks": num_blocks,
        }  # fmt: skip
        self.is_full = size == "full"
        self.causal = causal
        self.hidden_dim = dim // 2 if self.is_full else dim
        initial = initializers_for(initializer, activation, num_blocks)
        no_norm = normalization == "none"

        def normalized_activation(name):
            return NormalizedActivation(
                normalization, activation, epsilon, momentum, name=name, dtype=self.dtype_policy
            )

        self.pre_normalization = normalized_activation("pre_normalization")
        self.conv_dilated = DilatedConvolution(
            self.hidden_dim, kernel_size, dilation_rate, causal,
            use_bias=no_norm or not self.is_full,
            kernel_initializer=(initial.hidden if self.is_full else initial.residual)(),
            name="conv_dilated", dtype=self.dtype_policy,
        )  # fmt: skip
        if self.is_full:
            # A convolution of one tap, not a dense layer, so that every initialisation scheme sees a kernel.
            self.reduce_dim = DilatedConvolution(
                self.hidden_dim, 1, use_bias=no_norm, kernel_initializer=initial.hidden(), name="reduce_dim",
                dtype=self.dtype_policy,
            )  # fmt: skip
            self.reduce_dim_normalization = normalized_activation("reduce_dim_normalization")
            self.conv_dilated_normalization = normalized_activation("conv_dilated_normalization")
            self.recover_dim = DilatedConvolution(
                dim, 1, kernel_initializer=initial.residual(), name="recover_dim", dtype=self.dtype_policy
            )
        alpha = activation == "selu" and no_norm
        self.dropout = make_dropout(dropout, alpha, name="dropout", dtype=self.dtype_policy)

    def build(self, input_shape):
        hidden_shape = (*input_shape[:-1], self.hidden_dim)
        self.pre_normalization.build(input_shape)
        self.conv_dilated.build(hidden_shape)
        if self.is_full:
            self.reduce_dim.build(input_shape)
            self.reduce_dim_normalization.build(hidden_shape)
            self.conv_dilated_normalization.build(hidden_shape)
            self.recover_dim.build(hidden_shape)

    def call(self, inputs, mask=None, training=False):
        hidden = self.to_hidden(inputs, mask, training)
        if mask is not None and not self.causal:
            hidden = hidden * ops.cast(mask, hidden.dtype)[..., None]
        return inputs + self.from_hidden(self.conv_dilated(hidden), mask, training)

    def to_hidden(self, inputs, mask=None, training=False):
        """The input of the dilated convolution: float `(..., dim)` → `(..., hidden_dim)`, each step alone."""
        hidden = self.pre_normalization(inputs, mask=mask, training=training)
        if self.is_full:
            hidden = self.reduce_dim_normalization(self.reduce_dim(hidden), mask=mask, training=training)
        elif self.dropout is not None:
            hidden = self.dropout(hidden, training=training)
        return hidden

    def from_hidden(self, convolved, mask=None, training=False):
        """The block's addition to its input: float `(..., hidden_dim)` → `(..., dim)`, each step alone."""
        if not self.is_full:
            return convolved
        hidden = self.conv_dilated_normalization(convolved, mask=mask, training=training)
        if self.dropout is not None:
            hidden = self.dropout(hidden, training=training)
        return self.recover_dim(hidden)

    def make_identity(self):
        """Set the last map to zero, so that the output is the input until training."""
        set_to_zero(self.recover_dim if self.is_full else self.conv_dilated)

    def step_kernels(self) -> dict:
        """The kernels for `step`, cut once before the first step."""
        names = ("reduce_dim", "conv_dilated", "recover_dim") if self.is_full else ("conv_dilated",)
        return {name: getattr(self, name).present_kernel() for name in names}

    def step(self, inputs, from_past, kernels):
        """One step of a causal block.

        Args:
            inputs: float `(batch, dim)`, the block's input at time t.
            from_past: float `(batch, hidden_dim)`, the product of the earlier taps, see `DilatedConvolution.step`; None
                if the convolution has one tap.
            kernels: the result of `step_kernels`.

        Returns:
            float `(batch, dim)`, equal to `call(...)[:, t]`; and float `(batch, hidden_dim)`, the convolution's input
            at t, which later steps need.
        """
        hidden = self.pre_normalization(inputs)
        if self.is_full:
            hidden = self.reduce_dim_normalization(self.reduce_dim.step(hidden, kernels["reduce_dim"]))
        convolved = self.conv_dilated.step(hidden, kernels["conv_dilated"], from_past)
        if not self.is_full:
            return inputs + convolved, hidden
        activated = self.conv_dilated_normalization(convolved)
        return inputs + self.recover_dim.step(activated, kernels["recover_dim"]), hidden

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | self._config


def set_to_zero(layer: keras.layers.Layer):
    """Set all weights of a built layer to zero."""
    layer.set_weights([weights * 0 for weights in layer.get_weights()])
