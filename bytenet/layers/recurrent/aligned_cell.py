"""One step of Bahdanau's decoder: a cell that attends to the source."""

import keras
from keras import ops

from bytenet.layers.layer_arguments import pop_layer_arguments
from bytenet.layers.recurrent.cells import RecurrentCell
from bytenet.layers.recurrent.scores import SourceAlignment


@keras.saving.register_keras_serializable("bytenet")
class AlignedCell(keras.layers.Layer):
    """One step of a cell that reads the previous symbol and a context.

    The previous state chooses the context by attention: c = Σ_j α_j h_j. The cell needs only its projection
    W c = Σ_j α_j (W h_j), and W h_j is the same in all steps. So the weights α sum up projected symbols, and the
    context itself is computed after the loop.

    The cell is for `keras.layers.RNN`, which gives a cell only inputs and states. So the memory is among the states,
    and does not change.

    Args:
        kind, units: of the `RecurrentCell`.
        attention_units: width of the alignment model's hidden layer.
        initializer: a name in `WEIGHT_SCHEMES`.
        **arguments: further arguments of the `RecurrentCell`, and `name` and `dtype`.

    Input: the projection of the previous symbol, float `(rows, gates * units)`. States: those of the cell, float
    `(rows, units)`; keys `(batch, S, attention_units)`, offsets `(batch, S)` and values `(batch, S, gates * units)`,
    where several rows may belong to one source. Output: the new state h and the weights α side by side, float
    `(rows, units + S)`.
    """

    def __init__(self, kind: str, units: int, attention_units: int, initializer: str = "auto", **arguments):
        super().__init__(**pop_layer_arguments(arguments))
        self.arguments = {
            "kind": kind, "units": units, "attention_units": attention_units, "initializer": initializer, **arguments,
        }  # fmt: skip
        self.cell = RecurrentCell(
            kind, units, initializer=initializer, name="recurrent_cell", dtype=self.dtype_policy, **arguments
        )
        self.alignment = SourceAlignment(
            "additive", attention_units, initializer=initializer, name="alignment", dtype=self.dtype_policy
        )
        self.units = units
        # Keras needs the number of states; it does not read the widths of the memory.
        self.state_size = [units] * (len(self.cell.state_size) + 3)

    def build(self, input_shape):
        """Make the weights. `input_shape` has the shapes of the embedded symbols and of the encoded source."""
        embedded, encoded = (shape[-1] for shape in input_shape)
        self.cell.build((None, embedded + encoded))
        self.alignment.build(((None, None, self.units), (None, None, encoded)))

    def call(self, inputs, states):
        return self.make_step()(inputs, states)

    def make_step(self):
        """Make a `call` for a loop over steps, see `RecurrentCell.make_step`."""
        cell_step = self.cell.make_step()

        def step(inputs, states):
            *states, keys, offsets, values = states
            batch = ops.shape(keys)[0]
            # The rows of a source attend together.
            queries = ops.reshape(states[0], (batch, -1, self.units))
            weights = self.alignment(queries, {"keys": keys, "offsets": offsets})
            with keras.name_scope("alignment"):  # for profiles
                context = ops.matmul(weights, values)
            output, states = cell_step(inputs + ops.reshape(context, (-1, values.shape[-1])), states)
            rows_of_weights = ops.reshape(weights, (-1, ops.shape(keys)[1]))
            return ops.concatenate([output, rows_of_weights], axis=-1), [*states, keys, offsets, values]

        return step

    def get_config(self):
        return super().get_config() | self.arguments
