"""The decoders of Cho et al. and Bahdanau et al.: a context of the source goes into every step."""

import keras
from keras import ops

from bytenet.layers.layer_arguments import pop_layer_arguments
from bytenet.layers.recurrent.aligned_cell import AlignedCell
from bytenet.layers.recurrent.cells import RecurrentCell
from bytenet.layers.recurrent.decoder import RecurrentDecoder
from bytenet.layers.recurrent.gru_loops import AdditiveAttention, attending_gru_outputs, gru_outputs
from bytenet.layers.recurrent.initializers import weight_scheme


@keras.saving.register_keras_serializable("bytenet")
class ContextDecoder(RecurrentDecoder, keras.layers.Layer):
    """A cell that reads the previous symbol and a context of the source, and a readout with maxout.

    ```
    s_0 = tanh(W_s h + b)                                    h: the encoder's last state, backward if there is one
    α_i = softmax_j(v · tanh(W_a s_{i−1} + U_a h_j + b_a)),  c_i = Σ_j α_ij h_j
    s_i = cell([E y_{i−1}; c_i], s_{i−1})
    t_i = U_o s_i + V_o E y_{i−1} + C_o c_i + b_o            2l channels; or s_{i−1} in place of s_i
    output_i = the larger of channels 2k and 2k + 1 of t_i   l channels
    ```

    Without attention, every context is the encoder's last state (Cho et al.). The readout needs no loop. An LSTM's
    second state begins at 0.

    Args:
        kind, units: of the `RecurrentCell`.
        readout_units: width l of the readout.
        readout_state: "current" for s_i, as in the text of Bahdanau et al., "previous" for s_{i−1}, as in its appendix
            and in the authors' code.
        attention_units: width of the alignment model's hidden layer; None for no attention.
        initializer: a name in `WEIGHT_SCHEMES`.
        **arguments: further arguments of the cell, and `name` and `dtype`.

    For the methods see `RecurrentDecoder`. The outputs for the head have `readout_units` channels.

    Memory: `start`, s_0, float `(batch, units)`. With attention: `encoded`, the h_j, float `(batch, S, channels)`;
    `projected`, the h_j in the cell's projection, float `(batch, S, gates * units)`; `keys`, float
    `(batch, S, attention_units)`; and `offsets` of the scores, float `(batch, S)`. Without: `context`, the encoder's
    last state, float `(batch, channels)`, and `projected`, the same in the cell's projection, float
    `(batch, gates * units)`.

    Raises:
        ValueError: `kind` or `readout_state` is unknown.

    Reference:
        Cho et al. 2014; Bahdanau et al. 2015, section 3.1 and appendix A.
    """

    def __init__(
        self, kind: str, units: int, readout_units: int, readout_state: str = "current",
        attention_units: int | None = None, initializer: str = "auto", **arguments,
    ):  # fmt: skip
        super().__init__(**pop_layer_arguments(arguments))
        if readout_state not in ("current", "previous"):
            raise ValueError(f"Unknown readout_state {readout_state!r}; known are current, previous.")
        self.arguments = {
            "kind": kind, "units": units, "readout_units": readout_units, "readout_state": readout_state,
            "attention_units": attention_units, "initializer": initializer, **arguments,
        }  # fmt: skip
        self.units = units
        self.readout_units = readout_units
        self.reads_current_state = readout_state == "current"
        policy, kernel = self.dtype_policy, weight_scheme(initializer).kernel
        self.has_attention = attention_units is not None
        if attention_units is None:
            step = RecurrentCell(kind, units, initializer=initializer, name="recurrent_cell", dtype=policy, **arguments)
        else:
            step = AlignedCell(
                kind, units, attention_units, initializer=initializer, name="step", dtype=policy, **arguments
            )
        self.loop = keras.layers.RNN(step, return_sequences=True, name="loop", dtype=policy)
        self.cell = step.cell if self.has_attention else step
        self.start_map = keras.layers.Dense(
            units, activation="tanh", kernel_initializer=kernel(), name="initial_state", dtype=policy
        )
        self.readout = keras.layers.Dense(2 * readout_units, kernel_initializer=kernel(), name="readout", dtype=policy)

    def build(self, input_shape):
        """Make the weights. `input_shape` has the shapes of embedded symbols, encoded source and the state h."""
        embedded, encoded, last_state = (shape[-1] for shape in input_shape)
        if self.has_attention:
            self.loop.cell.build(input_shape[:2])
        else:
            self.cell.build((None, embedded + encoded))
        self.start_map.build((None, last_state))
        self.readout.build((None, None, self.units + embedded + encoded))
        self.num_embedded = embedded
        self.start_channels = last_state

    def remember(self, encoded, states, source_ids):
        with keras.name_scope(self.name):
            last_state = states[-1][0]
            memory = {"start": self.start_map(last_state[:, -self.start_channels :])}
            if not self.has_attention:
                return memory | {"context": last_state, "projected": self.cell.project(last_state, self.num_embedded)}
            memory |= self.loop.cell.alignment.remember(encoded, source_ids)
            return memory | {"encoded": encoded, "projected": self.cell.project(encoded, self.num_embedded)}

    def initial_state(self, memory, beam_size):
        start = ops.repeat(memory["start"], beam_size, axis=0)
        return {"hypotheses": [start, *(ops.zeros_like(start) for _ in self.cell.state_size[1:])]}

    def decode(self, embedded, memory, training=False):
        return self(embedded, memory)[0]

    def attention_weights(self, embedded, memory):
        return self(embedded, memory)[1]

    def call(self, embedded, memory):
        """Compute all steps at once.

        Args:
            embedded: the characters before each step, float `(batch, T, channels)`.
            memory: the result of `remember`.

        Returns:
            The outputs for the head, float `(batch, T, readout_units)`; and the weights of the attention, float
            `(batch, T, S)`, or None without attention.
        """
        initial_states = self.initial_state(memory, 1)["hypotheses"]
        projected = self.cell.project(embedded)
        weights = None
        if self.has_attention:
            outputs = self._attend_in_all_steps(projected, initial_states, memory)
            states, weights = outputs[..., : self.units], outputs[..., self.units :]
            context = self._context(weights, memory)
        else:
            projected = projected + memory["projected"][:, None]
            if self.cell.has_gru_loop:
                states = gru_outputs(self, projected, *initial_states, self.cell.recurrent_kernel)
            else:
                states = self.loop(projected, initial_state=initial_states)
            context = memory["context"][:, None]
        if not self.reads_current_state:
            states = ops.concatenate([initial_states[0][:, None], states[:, :-1]], axis=1)
        return self._read_out(states, embedded, context), weights

    def _attend_in_all_steps(self, projected, initial_states, memory):
        """The outputs of an `AlignedCell` in all steps, float `(batch, T, units + S)`."""
        if not self.cell.has_gru_loop:
            return self.loop(projected, initial_state=[*initial_states, *_attended(memory)])
        state_map, vector = self.loop.cell.alignment.additive_weights
        attention = AdditiveAttention(state_map, vector, *_attended(memory))
        return attending_gru_outputs(self, projected, *initial_states, self.cell.recurrent_kernel, attention)

    def make_step(self):
        project, cell_step = self.cell.make_projection(self.num_embedded), self.loop.cell.make_step()

        def step(embedded, state, memory, position):
            with keras.name_scope(self.name):  # the scope of `call`, for profiles
                projected, batch = project(embedded), ops.shape(memory["start"])[0]
                previous = state["hypotheses"]
                if self.has_attention:
                    output, states = cell_step(projected, [*previous, *_attended(memory)])
                    output, weights = output[:, : self.units], output[:, self.units :]
                    present = states[: len(previous)]
                    context = self._context(_by_source(weights, batch), memory)
                else:
                    projected = _by_source(projected, batch) + memory["projected"][:, None]
                    output, present = cell_step(ops.reshape(projected, (-1, projected.shape[-1])), previous)
                    context = memory["context"][:, None]
                read = output if self.reads_current_state else previous[0]
                outputs = self._read_out(_by_source(read, batch), _by_source(embedded, batch), context)
                return ops.reshape(outputs, (-1, self.readout_units)), {"hypotheses": present}

        return step

    def _context(self, weights, memory):
        """The contexts of steps with these weights: float `(batch, T, S)` → `(batch, T, channels)`."""
        with keras.name_scope("alignment"):  # for profiles
            return ops.matmul(weights, memory["encoded"])

    def _read_out(self, states, embedded, context):
        """float `(batch, T, channels)` each; T of the context may be 1."""
        context = ops.broadcast_to(context, (*ops.shape(states)[:2], context.shape[-1]))
        pairs = self.readout(ops.concatenate([states, embedded, context], axis=-1))
        return maxout(pairs)

    def get_config(self):
        return super().get_config() | self.arguments


def maxout(pairs):
    """The larger of the channels 2k and 2k + 1: float `(batch, T, 2l)` → `(batch, T, l)`."""
    batch, length = ops.shape(pairs)[:2]
    return ops.max(ops.reshape(pairs, (batch, length, pairs.shape[-1] // 2, 2)), axis=-1)


def _attended(memory: dict) -> list:
    """The memory in the order of the states of an `AlignedCell`."""
    return [memory["keys"], memory["offsets"], memory["projected"]]


def _by_source(values, batch):
    """float `(batch * beam_size, channels)` → `(batch, beam_size, channels)`."""
    return ops.reshape(values, (batch, -1, ops.shape(values)[-1]))
