"""The decoder of Luong et al.: recurrent layers first, then attention, whose result may be fed to the next step."""

import keras
from keras import ops

from bytenet.layers.recurrent.decoder import RecurrentDecoder
from bytenet.layers.recurrent.initializers import weight_scheme
from bytenet.layers.recurrent.scores import SourceAlignment
from bytenet.layers.recurrent.stack_decoder import StackDecoder


@keras.saving.register_keras_serializable("bytenet")
class AttentionalStep(keras.layers.Layer):
    """Recurrent layers, and the attentional state of their output h: h̃ = tanh(W_c [c; h]) with the context c.

    The part of W_c for the context maps the encoded source once: W c = Σ_j α_j (W H_j) for the weights α.

    The call is one step with input feeding, for `keras.layers.RNN`. That layer gives a cell one tensor of inputs, and
    states. So the memory is among the states, and does not change.

    Args:
        stack: the recurrent layers. With input feeding, the first one reads the previous symbol and h̃.
        attention: the attention of their outputs.
        initializer: a name in `WEIGHT_SCHEMES`.

    Input: float `(rows, channels)`: the previous symbol, projected by the first layer's cell; with dropout, the factors
    of the outputs between the layers; with a window that moves with the steps, the offsets of the scores. States: those
    of the layers, then h̃, float `(rows, units)`; then keys, offsets and values of `batch` sources. Several rows may
    belong to one source. Output: h̃ and α side by side, float `(rows, units + S)`.
    """

    def __init__(self, stack: StackDecoder, attention: SourceAlignment, initializer: str = "auto", **kwargs):
        super().__init__(**kwargs)
        self.stack = stack
        self.attention = attention
        self.initializer = initializer
        self.units = stack.units
        kernel = weight_scheme(initializer).kernel()
        # W_c. Its two parts are used one by one.
        self.output_map = keras.layers.Dense(
            self.units, use_bias=False, kernel_initializer=kernel, name="attentional_state", dtype=self.dtype_policy
        )
        # Keras needs the number of states; it does not read the widths of the memory.
        self.state_size = [self.units] * (stack.num_states + 1 + 3)

    def build(self, input_shape):
        """Make the weights. `input_shape` has the shapes of the inputs of the layers and of the encoded source."""
        inputs, encoded = input_shape
        self.stack.build(inputs)
        self.attention.build(((None, None, self.units), encoded))
        self.num_encoded = encoded[-1]
        self.output_map.build((None, None, self.num_encoded + self.units))

    def remember(self, encoded, source_ids):
        """The memory of the source: keys, offsets, and the encoded symbols mapped by W_c."""
        with keras.name_scope("attentional_state"):  # for profiles
            values = ops.matmul(encoded, self._kernel()[: self.num_encoded])
        return self.attention.remember(encoded, source_ids) | {"values": values}

    def attend(self, outputs, memory, window=None):
        """Attend to the source.

        Args:
            outputs: of the recurrent layers, float `(batch, T, units)`.
            memory: the result of `remember`.
            window: as in `SourceAlignment`.

        Returns:
            h̃, float `(batch, T, units)`, and α, float `(batch, T, S)`.
        """
        weights = self.attention(outputs, memory, window)
        with keras.name_scope("attentional_state"):
            # XLA cannot compile the gradient of `matmul` for inputs of ranks 3 and 2 inside of a loop.
            own_part = ops.einsum("bti,io->bto", outputs, self._kernel()[self.num_encoded :])
            return ops.tanh(ops.matmul(weights, memory["values"]) + own_part), weights

    def call(self, inputs, states):
        *states, previous, keys, offsets, values = states
        end = self.stack.layers[0].cell.bias.shape[0]
        projected, factors = inputs[:, :end], []
        for dropout in self.stack.dropouts:
            if dropout is not None:
                factors.append(inputs[:, end : end + self.units])
                end += self.units
        window = inputs[:, None, end:] if self.attention.window == "monotonic" else None
        memory = {"keys": keys, "offsets": offsets, "values": values}
        attentional, weights, states = self.advance(projected, factors or None, states, previous, memory, window)
        outputs = ops.concatenate([attentional, weights], axis=-1)
        return outputs, [*states, attentional, keys, offsets, values]

    def advance(self, projected, factors, states, previous, memory, window):
        """Compute one step.

        Args:
            projected: the previous symbols, projected by the first layer's cell, float `(rows, gates * units)`.
            factors: of the outputs between the layers, see `StackDecoder.advance`.
            states: of all layers in one list.
            previous: h̃ of the step before, float `(rows, units)`; None without input feeding.
            memory: the result of `remember`, for the source of each row. A source may have several rows.
            window: as in `SourceAlignment`.

        Returns:
            h̃, float `(rows, units)`; α, float `(rows, S)`; and the next states of the layers.
        """
        stack, batch = self.stack, ops.shape(memory["offsets"])[0]
        if previous is not None:
            cell = stack.layers[0].cell
            projected = projected + cell.project(previous, cell.kernel.shape[0] - self.units)
        output, states = stack.advance(projected, states, factors)
        # The rows of a source attend together.
        attentional, weights = self.attend(ops.reshape(output, (batch, -1, self.units)), memory, window)
        rows_of_weights = ops.reshape(weights, (-1, ops.shape(memory["offsets"])[1]))
        return ops.reshape(attentional, (-1, self.units)), rows_of_weights, states

    def get_config(self):
        config = super().get_config() | {"initializer": self.initializer}
        for name, layer in (("stack", self.stack), ("attention", self.attention)):
            config[name] = keras.saving.serialize_keras_object(layer)
            config[name].pop("build_config", None)  # `build` makes the weights of all layers
        return config

    @classmethod
    def from_config(cls, config):
        return super().from_config(config | _inner_layers(config))

    def _kernel(self):
        """W_c in the precision of the computation. Keras casts weights only inside `__call__`."""
        return ops.cast(ops.convert_to_tensor(self.output_map.kernel), self.compute_dtype)


@keras.saving.register_keras_serializable("bytenet")
class LuongDecoder(RecurrentDecoder, keras.layers.Layer):
    """Recurrent layers that start from the encoder's last states. Their current state then attends to the source.

    ```
    h_t = layers(E y_{t−1}, states), or layers([E y_{t−1}; h̃_{t−1}], states) with input feeding, where h̃_0 = 0
    α_t = weights of the source for h_t, see `SourceAlignment`
    h̃_t = tanh(W_c [Σ_j α_tj H_j; h_t])
    ```

    Without input feeding, the attention is outside the loop over the steps.

    Args:
        stack, attention, initializer: of the `AttentionalStep`.
        feeding: whether the first layer also reads the attentional state of the step before.

    For the methods see `RecurrentDecoder`. The outputs for the head are h̃, with `units` channels.

    Memory: `states`, for each layer the list of the encoder's last states, float `(batch, units)`; `keys`, float
    `(batch, S, channels)`, and `offsets` of the scores, float `(batch, S)`, see `SourceAlignment.remember`; and
    `values`, the H_j mapped by W_c, float `(batch, S, units)`.

    Reference:
        Luong et al. 2015, section 3.
    """

    def __init__(
        self, stack: StackDecoder, attention: SourceAlignment, feeding: bool = True, initializer: str = "auto", **kwargs
    ):
        super().__init__(**kwargs)
        self.feeding = feeding
        self.units = stack.units
        step = AttentionalStep(stack, attention, initializer, name="step", dtype=self.dtype_policy)
        self.loop = keras.layers.RNN(step, return_sequences=True, name="loop", dtype=self.dtype_policy)

    def build(self, input_shape):
        """Make the weights. `input_shape` has the shapes of the embedded symbols and of the encoded source."""
        embedded, encoded = input_shape
        width = embedded[-1] + (self.units if self.feeding else 0)
        self.loop.cell.build(((None, None, width), encoded))

    def remember(self, encoded, states, source_ids):
        with keras.name_scope(self.name):
            return self.loop.cell.remember(encoded, source_ids) | {"states": states}

    def initial_state(self, memory, beam_size):
        states = self.loop.cell.stack.initial_state(memory, beam_size)["hypotheses"]
        return {"hypotheses": [*states, ops.zeros_like(states[0])] if self.feeding else states}

    def decode(self, embedded, memory, training=False):
        return self(embedded, memory, training=training)[0]

    def attention_weights(self, embedded, memory):
        return self(embedded, memory)[1]

    def call(self, embedded, memory, training=False):
        """Compute all steps at once.

        Args:
            embedded: the characters before each step, float `(batch, T, channels)`.
            memory: the result of `remember`.
            training: whether dropout is on.

        Returns:
            h̃, float `(batch, T, units)`, and the weights α, float `(batch, T, S)`.
        """
        step, stack = self.loop.cell, self.loop.cell.stack
        window = step.attention.window_of(ops.arange(ops.shape(embedded)[1]), memory)
        if not self.feeding:
            return step.attend(stack(embedded, memory["states"], training=training), memory, window)
        parts = [stack.layers[0].cell.project(embedded)]
        ones = ops.ones((*ops.shape(embedded)[:2], self.units), dtype=self.compute_dtype)
        parts += [dropout(ones, training=training) for dropout in stack.dropouts if dropout is not None]
        if window is not None:
            parts.append(ops.cast(window, self.compute_dtype))
        attended = [memory[name] for name in ("keys", "offsets", "values")]
        initial_states = [*self.initial_state(memory, 1)["hypotheses"], *attended]
        outputs = self.loop(ops.concatenate(parts, axis=-1), initial_state=initial_states)
        return outputs[..., : self.units], outputs[..., self.units :]

    def make_step(self):
        cell = self.loop.cell

        def step(embedded, state, memory, position):
            with keras.name_scope(self.name):  # the scope of `call`, for profiles
                window = cell.attention.window_of(ops.reshape(position, (1,)), memory)
                projected = cell.stack.layers[0].cell.project(embedded)
                *states, previous = state["hypotheses"] if self.feeding else [*state["hypotheses"], None]
                attentional, _, states = cell.advance(projected, None, states, previous, memory, window)
            return attentional, {"hypotheses": [*states, attentional] if self.feeding else states}

        return step

    def get_config(self):
        of_step = self.loop.cell.get_config()
        arguments = {name: of_step[name] for name in ("stack", "attention", "initializer")}
        return super().get_config() | arguments | {"feeding": self.feeding}

    @classmethod
    def from_config(cls, config):
        return super().from_config(config | _inner_layers(config))


def _inner_layers(config: dict) -> dict:
    """The layers that a configuration describes, as arguments of the class."""
    return {name: keras.saving.deserialize_keras_object(config[name]) for name in ("stack", "attention")}
