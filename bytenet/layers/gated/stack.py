"""The encoder or decoder of ConvS2S between embeddings and memory or head."""

from collections.abc import Sequence
from functools import partial

import keras

from bytenet.layers.gated.block import GatedBlock
from bytenet.layers.gated.maps import make_map


@keras.saving.register_keras_serializable("bytenet")
class GatedStack(keras.layers.Layer):
    """Gated blocks between two linear maps.

    Mask: true at real steps, see `GatedBlock`. The output at padded steps has no meaning.

    Args:
        widths: channels of each block, from below.
        kernel_sizes: taps of each block's convolution.
        output_dim: channels of the output.
        causal: whether convolutions see past and present only.
        attention_layers: numbers of the blocks that attend to a source, from 1.
        attention_dim: channels of keys and values; also of the inputs, if a block attends.
        equations, dropout, weight_normalization: arguments of `GatedBlock`. Inputs have the same dropout.

    Input: float `(batch, length, channels)`. Output: float `(batch, length, output_dim)`, and a list with the weights
    of each attention, float `(batch, length, S)`, from below.

    Reference:
        Gehring et al. 2017, section 3.2.
    """

    def __init__(
        self,
        widths: Sequence[int],
        kernel_sizes: Sequence[int],
        output_dim: int,
        causal: bool = False,
        attention_layers: Sequence[int] = (),
        attention_dim: int | None = None,
        equations: str = "code",
        dropout: float = 0.0,
        weight_normalization: bool = True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.arguments = {
            "widths": list(widths), "kernel_sizes": list(kernel_sizes), "output_dim": output_dim, "causal": causal,
            "attention_layers": list(attention_layers), "attention_dim": attention_dim, "equations": equations,
            "dropout": dropout, "weight_normalization": weight_normalization,
        }  # fmt: skip
        linear = partial(make_map, weight_normalization=weight_normalization, dtype=self.dtype_policy)
        self.input_map = linear(widths[0], kept_share=1 - dropout, name="input_map")
        self.blocks = [
            GatedBlock(
                width, kernel_size, causal, attention_dim if number in attention_layers else None, equations, dropout,
                weight_normalization, name=f"layer_{number}", dtype=self.dtype_policy,
            )
            for number, (width, kernel_size) in enumerate(zip(widths, kernel_sizes, strict=True), start=1)
        ]  # fmt: skip
        self.output_map = linear(output_dim, name="output_map")

    def build(self, input_shape):
        self.input_map.build(input_shape)
        shape = self.input_map.compute_output_shape(input_shape)
        for block in self.blocks:
            block.build(shape)
            shape = (*shape[:-1], block.width)
        self.output_map.build(shape)

    def call(self, inputs, memory=None, mask=None, training=False):
        """Compute all steps at once.

        Args:
            inputs: embedded characters with dropout, float `(batch, length, channels)`.
            memory, mask, training: arguments of `GatedBlock`.
        """
        outputs, all_weights = self.input_map(inputs), []
        for block in self.blocks:
            if block.attention_dim is None:
                outputs = block(outputs, mask=mask, training=training)
            else:
                outputs, weights = block(outputs, inputs, memory, mask=mask, training=training)
                all_weights.append(weights)
        return self.output_map(outputs), all_weights

    def get_config(self):
        return super().get_config() | self.arguments
