"""The decoder of Sutskever et al., and the stack of recurrent layers of other decoders."""

import keras
from keras import ops

from bytenet.layers.fast import apply_dropout, make_dropout
from bytenet.layers.layer_arguments import pop_layer_arguments
from bytenet.layers.recurrent.decoder import RecurrentDecoder
from bytenet.layers.recurrent.encoder import RecurrentLayer


@keras.saving.register_keras_serializable("bytenet")
class StackDecoder(RecurrentDecoder, keras.layers.Layer):
    """RNNs, LSTMs or GRUs one upon the other, which begin with the last states of the encoder's layers.

    Args:
        kind, units: of the `RecurrentCell`s.
        num_layers: as many as the encoder has.
        dropout: share of the outputs of a layer that are dropped in training before the next layer reads them.
        **arguments: further arguments of the cells, and `name` and `dtype`.

    For the methods see `RecurrentDecoder`. The outputs for the head have `units` channels.

    Memory: `states`, for each layer the list of the encoder's last states, float `(batch, units)`.

    Reference:
        Sutskever et al. 2014.
    """

    def __init__(self, kind: str, units: int, num_layers: int, dropout: float = 0.0, **arguments):
        super().__init__(**pop_layer_arguments(arguments))
        self.arguments = {"kind": kind, "units": units, "num_layers": num_layers, "dropout": dropout, **arguments}
        self.units = units
        self.layers = [
            RecurrentLayer(kind, units, name=f"layer_{index}", dtype=self.dtype_policy, **arguments)
            for index in range(num_layers)
        ]
        self.num_states = len(self.layers) * len(self.layers[0].cell.state_size)
        self.dropouts = [
            make_dropout(dropout, name=f"dropout_{index}", dtype=self.dtype_policy) for index in range(1, num_layers)
        ]

    def build(self, input_shape):
        for index, layer in enumerate(self.layers):
            layer.build((*input_shape[:-1], self.units) if index else input_shape)

    def remember(self, encoded, states, source_ids):
        return {"states": states}

    def decode(self, embedded, memory, training=False):
        return self(embedded, memory["states"], training=training)

    def attention_weights(self, embedded, memory):
        return None

    def call(self, inputs, initial_states, training=False):
        """Compute all steps at once.

        Args:
            inputs: float `(batch, T, channels)`.
            initial_states: for each layer the list of its states before the first step, float `(batch, units)`.
            training: whether dropout is on.

        Returns:
            The outputs of the last layer, float `(batch, T, units)`.
        """
        outputs = inputs
        for index, (layer, states) in enumerate(zip(self.layers, initial_states, strict=True)):
            if index:
                outputs = apply_dropout(self.dropouts[index - 1], outputs, training)
            outputs, _ = layer(outputs, initial_state=states)
        return outputs

    def initial_state(self, memory, beam_size):
        repeated = keras.tree.map_structure(lambda tensor: ops.repeat(tensor, beam_size, axis=0), memory["states"])
        return {"hypotheses": keras.tree.flatten(repeated)}

    def make_step(self):
        def step(embedded, state, memory, position):
            with keras.name_scope(self.name):  # the scope of `call`, for profiles
                output, states = self.advance(self.layers[0].cell.project(embedded), state["hypotheses"])
            return output, {"hypotheses": states}

        return step

    def advance(self, projected, states, dropout_factors=None):
        """One step of all layers.

        Args:
            projected: the inputs of the first layer, projected by its cell, float `(rows, gates * units)`.
            states: the states of all layers in one list.
            dropout_factors: factors of the outputs between two layers, float `(rows, units)` for each; None without
                dropout.

        Returns:
            The output of the last layer, float `(rows, units)`, and the next states.
        """
        new_states, states_of_layer, output = [], self.num_states // len(self.layers), None
        for index, layer in enumerate(self.layers):
            if output is not None:
                projected = layer.cell.project(
                    output if dropout_factors is None else output * dropout_factors[index - 1]
                )
            first = index * states_of_layer
            with keras.name_scope(layer.name):
                output, states_after = layer.cell(projected, states[first : first + states_of_layer])
            new_states += states_after
        return output, new_states

    def compute_output_shape(self, input_shape, states_shape=None):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return super().get_config() | self.arguments
