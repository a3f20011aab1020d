"""Sets and stacks of residual blocks."""

import keras

from bytenet.layers.layer_arguments import pop_layer_arguments
from bytenet.layers.residual.block import ResidualBlock


@keras.saving.register_keras_serializable("bytenet")
class ResidualSet(keras.layers.Layer):
    """Residual blocks with the given dilation rates, one after the other.

    Args:
        dilations: dilation rate of each block.
        **block_arguments: the other arguments of `ResidualBlock`.

    Input, output and mask: as for `ResidualBlock`.
    """

    def __init__(self, dilations, **block_arguments):
        super().__init__(**pop_layer_arguments(block_arguments))
        self.supports_masking = True
        self._config = {"dilations": list(dilations), **block_arguments}
        self.blocks = [
            ResidualBlock(
                dilation_rate=rate,
                name=f"block_{index}_dilation_{rate}",
                dtype=self.dtype_policy,
                **block_arguments,
            )
            for index, rate in enumerate(dilations)
        ]

    def build(self, input_shape):
        for block in self.blocks:
            block.build(input_shape)

    def call(self, inputs, mask=None, training=False):
        for block in self.blocks:
            inputs = block(inputs, mask=mask, training=training)
        return inputs

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | self._config


@keras.saving.register_keras_serializable("bytenet")
class ResidualStack(keras.layers.Layer):
    """Equal sets of residual blocks: ByteNet's encoder, or its decoder between embedding and head.

    Args:
        num_sets: number of sets.
        dilations: dilation rates within one set.
        **block_arguments: the other arguments of `ResidualBlock`, except `num_blocks`.

    Input and output: float `(batch, length, dim)`; mask bool `(batch, length)`, see `ResidualBlock`.

    Reference:
        Madsen 2017, figure 2.6.4: three sets of dilation rates 1, 2, 4, 8, 16 in each half.
    """

    def __init__(self, num_sets: int, dilations, **block_arguments):
        super().__init__(**pop_layer_arguments(block_arguments))
        self.supports_masking = True
        self._config = {"num_sets": num_sets, "dilations": list(dilations), **block_arguments}
        self.sets = [
            ResidualSet(
                dilations,
                name=f"set_{index}",
                dtype=self.dtype_policy,
                num_blocks=num_sets * len(dilations),
                **block_arguments,
            )
            for index in range(num_sets)
        ]

    @property
    def blocks(self) -> list[ResidualBlock]:
        """All blocks in the order of the data."""
        return [block for one_set in self.sets for block in one_set.blocks]

    def make_last_sets_identity(self, number: int):
        """Set the weights of the last sets so that these sets return their inputs unchanged.

        Training may change the weights.

        Args:
            number: of the sets.

        Raises:
            ValueError: the stack does not have so many sets, or `number` is negative.
        """
        if not 0 <= number <= len(self.sets):
            raise ValueError(
                f"number is {number}; expected a number from 0 to {len(self.sets)}, the sets of the stack."
            )
        for one_set in self.sets[len(self.sets) - number :]:
            for block in one_set.blocks:
                block.make_identity()

    def build(self, input_shape):
        for one_set in self.sets:
            one_set.build(input_shape)

    def call(self, inputs, mask=None, training=False):
        for one_set in self.sets:
            inputs = one_set(inputs, mask=mask, training=training)
        return inputs

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | self._config
