"""Recurrent networks that read whole sequences."""

import keras
from keras import ops

from bytenet.layers.fast import apply_dropout, make_dropout
from bytenet.layers.layer_arguments import pop_layer_arguments
from bytenet.layers.recurrent.cells import RecurrentCell
from bytenet.layers.recurrent.gru_loops import gru_outputs


@keras.saving.register_keras_serializable("bytenet")
class RecurrentLayer(keras.layers.Layer):
    """An RNN, an LSTM or a GRU over a sequence.

    Mask: true at real steps. Other steps leave the state as it is, so a layer that reads backward begins at each
    sentence's own end. Without a mask, all steps are read.

    Args:
        kind, units: of the `RecurrentCell`.
        go_backwards: read the last step first. The outputs are in the order of the inputs.
        **arguments: further arguments of the cell and of every Keras layer.

    Input: float `(batch, length, channels)`; the first states, zeros if none are given. Output: float `(batch, length,
    units)`, and the list of last states, float `(batch, units)`.
    """

    def __init__(self, kind: str, units: int, go_backwards: bool = False, **arguments):
        super().__init__(**pop_layer_arguments(arguments))
        self.supports_masking = True
        self.arguments = {"kind": kind, "units": units, "go_backwards": go_backwards, **arguments}
        self.loop = keras.layers.RNN(
            RecurrentCell(kind, units, name="recurrent_cell", dtype=self.dtype_policy, **arguments),
            return_sequences=True, return_state=True, go_backwards=go_backwards, name="loop", dtype=self.dtype_policy,
        )  # fmt: skip

    @property
    def cell(self) -> RecurrentCell:
        return self.loop.cell

    def build(self, input_shape):
        self.cell.build((None, input_shape[-1]))

    def call(self, inputs, initial_state=None, mask=None):
        return self.read(self.cell.project(inputs), initial_state, mask)

    def read(self, projected, initial_state=None, mask=None):
        """As the call, but from the result of `RecurrentCell.project` for all steps."""
        go_backwards = self.arguments["go_backwards"]
        if self.cell.has_gru_loop:
            first = initial_state[0] if initial_state else ops.zeros_like(projected[:, 0, : self.cell.units])
            outputs = gru_outputs(self, projected, first, self.cell.recurrent_kernel, mask, go_backwards)
            return outputs, [outputs[:, 0 if go_backwards else -1]]
        outputs, *states = self.loop(projected, initial_state=initial_state, mask=mask)
        # The loop puts out the last step first if it goes backwards.
        return (ops.flip(outputs, axis=1) if go_backwards else outputs), states

    def get_config(self):
        return super().get_config() | self.arguments


@keras.saving.register_keras_serializable("bytenet")
class RecurrentEncoder(keras.layers.Layer):
    """Layers of RNNs, LSTMs or GRUs that read a sentence forward, or forward and backward.

    Mask: as for `RecurrentLayer`.

    Args:
        kind: of the cells.
        units: width of the cells in each direction.
        num_layers: layers in each direction.
        directions: "forward" or "both". The outputs of both directions stand side by side, forward first.
        meeting: with both directions, "layer": each layer reads both directions of the layer below. "end": it reads
            only its own direction.
        dropout: share of the outputs of a layer that are dropped in training before the next layer reads them.
        **arguments: further arguments of the cells and of every Keras layer.

    Input: float `(batch, length, channels)`. Output: float `(batch, length, directions * units)`; and for each layer
    the list of last states, float `(batch, directions * units)`. The last step of the backward direction is the first
    symbol.

    Raises:
        ValueError: `directions` or `meeting` is unknown.

    Reference:
        Sutskever et al. 2014; Bahdanau et al. 2015, section 3.2.
    """

    def __init__(
        self, kind: str, units: int, num_layers: int, directions: str = "forward", meeting: str = "layer",
        dropout: float = 0.0, **arguments,
    ):  # fmt: skip
        super().__init__(**pop_layer_arguments(arguments))
        if directions not in ("forward", "both"):
            raise ValueError(f"Unknown directions {directions!r}; known are forward, both.")
        if meeting not in ("layer", "end"):
            raise ValueError(f"Unknown meeting {meeting!r}; known are layer, end.")
        self.supports_masking = True
        self.arguments = {
            "kind": kind, "units": units, "num_layers": num_layers, "directions": directions, "meeting": meeting,
            "dropout": dropout, **arguments,
        }  # fmt: skip
        names = ("forward", "backward") if directions == "both" else ("forward",)
        self.units = units
        self.meet_in_layers = meeting == "layer"
        self.layers_by_direction = [
            [
                RecurrentLayer(
                    kind, units, go_backwards=name == "backward", name=f"{name}_{index}", dtype=self.dtype_policy,
                    **arguments,
                )
                for index in range(num_layers)
            ]
            for name in names
        ]  # fmt: skip
        self.dropouts = [
            [make_dropout(dropout, name=f"{name}_dropout_{index}", dtype=self.dtype_policy) for name in names]
            for index in range(1, num_layers)
        ]

    def build(self, input_shape):
        directions = self.layers_by_direction
        width = self.units * (len(directions) if self.meet_in_layers else 1)
        for layers in directions:
            for index, layer in enumerate(layers):
                layer.build((*input_shape[:-1], width) if index else input_shape)

    def call(self, inputs, mask=None, training=False):
        inputs_by_direction, all_states = [inputs] * len(self.layers_by_direction), []
        for index, layers in enumerate(zip(*self.layers_by_direction, strict=True)):
            if index:
                inputs_by_direction = [
                    apply_dropout(dropout, values, training)
                    for dropout, values in zip(self.dropouts[index - 1], inputs_by_direction, strict=True)
                ]
            results = [layer(values, mask=mask) for layer, values in zip(layers, inputs_by_direction, strict=True)]
            outputs = [output for output, _ in results]
            all_states.append(
                [ops.concatenate(states, axis=-1) for states in zip(*(states for _, states in results), strict=True)]
            )
            both = ops.concatenate(outputs, axis=-1)
            inputs_by_direction = [both] * len(layers) if self.meet_in_layers else outputs
        return both, all_states

    def get_config(self):
        return super().get_config() | self.arguments


def reversed_order(source_ids):
    """The order in which a network reads reversed sources: the real symbols backward, and the end symbol last.

    Args:
        source_ids: int32 `(batch, S)`, 0 at padding.

    Returns:
        int32 `(batch, S)`, the number of the symbol that is read at each step. Padding stays where it is. The same
        order undoes the reversal.

    Reference:
        Sutskever et al. 2014, section 3.3.
    """
    numbers = ops.arange(ops.shape(source_ids)[1], dtype="int32")[None]
    last = ops.sum(ops.cast(source_ids != 0, "int32"), axis=1, keepdims=True) - 1  # the end symbol
    return ops.where(numbers < last, last - 1 - numbers, numbers)
