"""The encoder of the thesis's recurrent baseline, with Keras's cells."""

from typing import Any

import keras
from keras import ops

from bytenet.layers.initializers import JointGlorotUniform, OpenGates
from bytenet.layers.recurrent.initializers import Float32Orthogonal


def cell_initializers(scheme: str, num_inputs: int, units: int, gated: bool) -> dict[str, Any]:
    """The initialisers of a recurrent cell, as arguments of Keras's `GRUCell` or `SimpleRNNCell`.

    Args:
        scheme: "auto" for Keras's own initialisers, "thesis_code" for those of TensorFlow 1.1, which the thesis used.
        num_inputs: channels of the cell's input.
        units: width of its state.
        gated: whether it is a GRU.

    Raises:
        ValueError: for an unknown scheme.
    """
    if scheme == "auto":
        return {"recurrent_initializer": Float32Orthogonal}  # a class: the cell draws the seeds in its own order
    if scheme != "thesis_code":
        raise ValueError(f"Unknown initializer {scheme!r}; known are auto, thesis_code.")
    columns = (2 * units, units) if gated else (units,)

    def joint() -> JointGlorotUniform:
        return JointGlorotUniform(num_inputs + units, columns)

    chosen = {"kernel_initializer": joint(), "recurrent_initializer": joint()}
    return chosen | {"bias_initializer": OpenGates()} if gated else chosen


@keras.saving.register_keras_serializable("bytenet")
class BidirectionalEncoder(keras.layers.Layer):
    """Two stacks of tanh RNNs: one reads forward, one backward. Their outputs stand side by side.

    No layer of one stack reads an output of the other. The initial states are zeros.

    Mask: true at real steps. Padded steps are skipped, so the backward stack begins at each sentence's own end, and
    their outputs are zeros. Without a mask, all steps are read.

    Args:
        units: width d of every RNN.
        num_layers: RNNs in each stack.
        initializer: "auto" or "thesis_code", see `cell_initializers`. "thesis_code" needs inputs of width d.

    Input: float `(batch, length, channels)`. Output: float `(batch, length, 2 * units)`, forward first; and an empty
    list, because the decoder does not begin with the encoder's states.

    Reference:
        Madsen 2017, section 3.6.
    """

    def __init__(self, units: int, num_layers: int, initializer: str = "auto", **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = units
        self.num_layers = num_layers
        self.initializer = initializer
        self.forward_stack = self._stack("forward")
        self.backward_stack = self._stack("backward", go_backwards=True)

    def _stack(self, name: str, go_backwards: bool = False) -> keras.layers.RNN:
        policy = self.dtype_policy
        cells = [
            keras.layers.SimpleRNNCell(
                self.units,
                name=f"layer_{index}",
                dtype=policy,
                **cell_initializers(self.initializer, self.units, self.units, gated=False),
            )
            for index in range(self.num_layers)
        ]
        # One loop for the whole stack instead of one a layer. (In TensorFlow, Keras cannot stack a single cell.)
        cell = keras.layers.StackedRNNCells(cells, name="layers", dtype=policy) if len(cells) > 1 else cells[0]
        return keras.layers.RNN(cell, return_sequences=True, go_backwards=go_backwards, name=name, dtype=policy)

    def build(self, input_shape):
        self.forward_stack.build(input_shape)
        self.backward_stack.build(input_shape)

    def call(self, inputs, mask=None, training=False):
        # The backward stack puts out the last step first.
        backward = ops.flip(self.backward_stack(inputs, mask=mask), axis=1)
        outputs = ops.concatenate([self.forward_stack(inputs, mask=mask), backward], axis=-1)
        return (outputs if mask is None else outputs * ops.cast(mask, outputs.dtype)[..., None]), []

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 2 * self.units)

    def get_config(self):
        return super().get_config() | {
            "units": self.units, "num_layers": self.num_layers, "initializer": self.initializer,
        }  # fmt: skip
