"""The decoder of the thesis's recurrent baseline, with Keras's cells."""

import keras
from keras import ops

from bytenet.layers.attention.dot_attention import padding_offsets, softmax
from bytenet.layers.recurrent.decoder import RecurrentDecoder
from bytenet.layers.recurrent.thesis_encoder import cell_initializers


@keras.saving.register_keras_serializable("bytenet")
class AttentionCell(keras.layers.Layer):
    """Two GRUs and multiplicative attention. The upper GRU also reads the attention of the step before.

    ```
    lower     = GRU(inputs)
    upper     = GRU([lower, attention of the step before])
    weights_s = softmax over s of keys_s · upper, not scaled; keys = map of encoded
    attention = map of [upper, sum over s of weights_s · encoded_s]
    ```

    Neither map has a bias. The attention is the output. GRUs reset before the product.

    The cell is for `keras.layers.RNN`, which gives a cell only inputs and states. So the encoded source is among the
    states, and does not change.

    States, all float: lower, upper and attention `(batch, units)`, then keys and encoded `(batch, S, units)` and
    score offsets `(batch, S)`: 0, or very negative at steps that get no attention.

    Args:
        units: width of GRUs, keys, encoded source and attention.
        initializer: "auto" or "thesis_code", see `cell_initializers`. "thesis_code" needs inputs of `units / 2`
            channels.

    Input: float `(batch, channels)`. Output: float `(batch, units)`.

    Reference:
        Luong et al. 2015, section 3. The attention is fed back as by TensorFlow's `AttentionWrapper` around the upper
        GRU (Madsen 2017, section 3.6).
    """

    def __init__(self, units: int, initializer: str = "auto", **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.initializer = initializer
        self.lower_gru = self._gru("lower_gru", units // 2)
        self.upper_gru = self._gru("upper_gru", 2 * units)
        policy = self.dtype_policy
        self.key_map = keras.layers.Dense(units, use_bias=False, name="attention_keys", dtype=policy)
        self.output_map = keras.layers.Dense(units, use_bias=False, name="attention_vector", dtype=policy)

    def _gru(self, name: str, num_inputs: int) -> keras.layers.GRUCell:
        initial = cell_initializers(self.initializer, num_inputs, self.units, gated=True)
        return keras.layers.GRUCell(self.units, reset_after=False, name=name, dtype=self.dtype_policy, **initial)

    @property
    def state_size(self):
        return [self.units] * 6

    def build(self, input_shape):
        batch = input_shape[0]
        self.lower_gru.build(input_shape)
        self.upper_gru.build((batch, 2 * self.units))
        self.key_map.build((batch, None, self.units))
        self.output_map.build((batch, 2 * self.units))

    def call(self, inputs, states):
        outputs, _, states = self.advance(inputs, states)
        return outputs, states

    def advance(self, inputs, states):
        """As the call, but also returns the weights, float `(batch, S)`, after the output."""
        lower, upper, attention, keys, encoded, offsets = states
        lower, _ = self.lower_gru(inputs, [lower])
        upper, _ = self.upper_gru(ops.concatenate([lower, attention], axis=-1), [upper])
        with keras.name_scope("attention_context"):
            scores = ops.matmul(keys, upper[..., None])[..., 0] + offsets  # (batch, S)
            weights = ops.cast(softmax(ops.cast(scores, "float32")), scores.dtype)
            context = ops.matmul(weights[:, None], encoded)[:, 0]  # (batch, units)
        attention = self.output_map(ops.concatenate([upper, context], axis=-1))
        return attention, weights, [lower, upper, attention, keys, encoded, offsets]

    def compute_output_shape(self, input_shape, states_shape):
        return (input_shape[0], self.units), states_shape

    def get_config(self):
        return super().get_config() | {"units": self.units, "initializer": self.initializer}


@keras.saving.register_keras_serializable("bytenet")
class ThesisDecoder(RecurrentDecoder, keras.layers.RNN):
    """An `AttentionCell` in a loop over the steps.

    Args:
        cell: the cell.

    For the methods see `RecurrentDecoder`. The outputs for the head have the `units` of the cell. In a search, each
    hypothesis has its own copy of the memory, which is `memory` of the state. So the search computes the same products
    as training.

    Memory: `encoded` and `keys`, float `(batch, S, units)`, and `offsets` of the scores, float `(batch, S)`.
    """

    def __init__(self, cell: AttentionCell, return_sequences: bool = True, **kwargs):
        super().__init__(cell, return_sequences=return_sequences, **kwargs)

    def remember(self, encoded, states, source_ids):
        with keras.name_scope("decoder"):
            keys = self.cell.key_map(encoded)
        if source_ids is None:
            return {"encoded": encoded, "keys": keys, "offsets": ops.zeros_like(keys[..., 0])}
        return {"encoded": encoded, "keys": keys, "offsets": padding_offsets(source_ids, keys.dtype)}

    def decode(self, embedded, memory, training=False):
        return self(embedded, initial_state=_cell_states(self.initial_state(memory, 1)))

    def attention_weights(self, embedded, memory):
        loop = keras.layers.RNN(_CellOfWeights(self.cell), return_sequences=True, dtype=self.dtype_policy)
        return loop(embedded, initial_state=_cell_states(self.initial_state(memory, 1)))

    def initial_state(self, memory, beam_size):
        rows = ops.shape(memory["encoded"])[0] * beam_size
        states = [ops.zeros((rows, self.cell.units), dtype=self.compute_dtype) for _ in range(3)]
        if beam_size > 1:
            memory = keras.tree.map_structure(lambda tensor: ops.repeat(tensor, beam_size, axis=0), memory)
        return {"hypotheses": states, "memory": memory}

    def make_step(self):
        def step(embedded, state, memory, position):
            with keras.name_scope(self.name):  # the scope of `call`: profiles group the operations of a step by it
                attention, states = self.cell(embedded, _cell_states(state))
            return attention, state | {"hypotheses": states[:3]}

        return step


class _CellOfWeights(keras.layers.Layer):
    """An `AttentionCell` whose output is the attention weights, float `(batch, S)`."""

    def __init__(self, cell: AttentionCell):
        super().__init__(dtype=cell.dtype_policy)
        self.cell = cell
        self.state_size = cell.state_size

    def build(self, input_shape):
        pass

    def call(self, inputs, states):
        _, weights, states = self.cell.advance(inputs, states)
        return weights, states


def _cell_states(state: dict) -> list:
    """The states of an `AttentionCell`, in the cell's order."""
    return [*state["hypotheses"], *(state["memory"][name] for name in ("keys", "encoded", "offsets"))]
