"""One step of a recurrent decoder with attention to the source."""

import keras
from keras import ops

from bytenet.layers.recurrent import cell_initializers


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
        lower, upper, attention, keys, encoded, offsets = states
        lower, _ = self.lower_gru(inputs, [lower])
        upper, _ = self.upper_gru(ops.concatenate([lower, attention], axis=-1), [upper])
        with keras.name_scope("attention_context"):
            scores = ops.matmul(keys, upper[..., None])[..., 0] + offsets  # (batch, S)
            weights = ops.softmax(scores, axis=-1)
            context = ops.matmul(weights[:, None], encoded)[:, 0]  # (batch, units)
        attention = self.output_map(ops.concatenate([upper, context], axis=-1))
        return attention, [lower, upper, attention, keys, encoded, offsets]

    def compute_output_shape(self, input_shape, states_shape):
        return (input_shape[0], self.units), states_shape

    def get_config(self):
        return super().get_config() | {"units": self.units, "initializer": self.initializer}
