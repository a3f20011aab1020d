"""A recurrent encoder that reads a sentence from both ends."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("bytenet")
class BidirectionalEncoder(keras.layers.Layer):
    """Stacks of tanh RNNs, one that reads forward and one that reads backward, their outputs side by side.

    The stacks meet only at the end: no layer of one reads an output of the other. States begin with zeros.

    Mask: steps that are not real are skipped, so the backward stack begins at each sentence's own end, and come out
    as zeros. Without a mask, all steps are read.

    Args:
        units: width d of every RNN.
        num_layers: RNNs in each stack.

    Input: float `(batch, length, channels)`. Output: float `(batch, length, 2 * units)`, forward first.

    Reference:
        Madsen 2017, section 3.6.
    """

    def __init__(self, units: int, num_layers: int, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = units
        self.num_layers = num_layers
        self.forward_stack = self._stack("forward")
        self.backward_stack = self._stack("backward", go_backwards=True)

    def _stack(self, name: str, go_backwards: bool = False) -> keras.layers.RNN:
        policy = self.dtype_policy
        cells = [
            keras.layers.SimpleRNNCell(self.units, name=f"layer_{index}", dtype=policy)
            for index in range(self.num_layers)
        ]
        # One loop for the whole stack, not one for each layer of it. (In TensorFlow, Keras cannot stack a single cell.)
        cell = keras.layers.StackedRNNCells(cells, name="layers", dtype=policy) if len(cells) > 1 else cells[0]
        return keras.layers.RNN(cell, return_sequences=True, go_backwards=go_backwards, name=name, dtype=policy)

    def build(self, input_shape):
        self.forward_stack.build(input_shape)
        self.backward_stack.build(input_shape)

    def call(self, inputs, mask=None):
        # What is read backward comes out last step first.
        backward = ops.flip(self.backward_stack(inputs, mask=mask), axis=1)
        outputs = ops.concatenate([self.forward_stack(inputs, mask=mask), backward], axis=-1)
        return outputs if mask is None else outputs * ops.cast(mask, outputs.dtype)[..., None]

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 2 * self.units)

    def get_config(self):
        return super().get_config() | {"units": self.units, "num_layers": self.num_layers}
