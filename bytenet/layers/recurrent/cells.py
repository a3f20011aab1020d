"""One step of an RNN, an LSTM or a GRU."""

import keras
from keras import ops

from bytenet.layers.recurrent.gru import GruKernel, next_gru_state
from bytenet.layers.recurrent.initializers import weight_scheme

NUM_GATES = {"rnn": 1, "gru": 3, "lstm": 4}
"""The kinds of cells, and the number of maps of the inputs in each."""


@keras.saving.register_keras_serializable("bytenet")
class RecurrentCell(keras.layers.Layer):
    """The part of an RNN, an LSTM or a GRU that depends on the state.

    The inputs of all steps are known before the loop over the steps. So `project` maps all of them in one product, and
    the cell adds what depends on its state:

    ```
    rnn:   h ← f(a), with a = W x + U h + b and f = tanh or ReLU
    lstm:  i, f, o = σ(a_i), σ(a_f), σ(a_o);  c ← f ⊙ c + i ⊙ tanh(a_c);  h ← o ⊙ tanh(c)
    gru:   z, r = σ(a_z), σ(a_r);  h ← (1 − z) ⊙ h + z ⊙ tanh(W x + U (r ⊙ h) + b)
    ```

    The matrices of the gates stand side by side, in the orders i, f, c, o and z, r, candidate. A GRU resets before the
    product. In Keras's GRU, z and 1 − z are exchanged.

    With layer normalisation, a has no b, and becomes `gain ⊙ (a − μ) / √(σ² + ε) + b`. The same holds for the sum
    inside the tanh of a GRU. The mean μ and the variance σ² are those of the units of one gate. All steps share gain
    and bias.

    The cell is for `keras.layers.RNN`. States: h, float `(batch, units)`; an LSTM also has c of the same shape.

    Args:
        kind: "rnn", "lstm" or "gru".
        units: width n of the state.
        activation: "tanh" or "relu", for the kind "rnn".
        normalization: "none" or "layer".
        initializer: a name in `WEIGHT_SCHEMES`.
        epsilon: added to variances.

    Input: the result of `project` for one step, float `(batch, gates * units)`. Output: h.

    Raises:
        ValueError: `kind`, `activation` or `normalization` is unknown; or, in `build`, `initializer` is unknown.

    Reference:
        Hochreiter and Schmidhuber 1997; Cho et al. 2014; Ba et al. 2016.
    """

    def __init__(
        self,
        kind: str,
        units: int,
        activation: str = "tanh",
        normalization: str = "none",
        initializer: str = "auto",
        epsilon: float = 1e-5,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if kind not in NUM_GATES:
            raise ValueError(f"Unknown cell {kind!r}; known are {', '.join(NUM_GATES)}.")
        if activation not in ("tanh", "relu"):
            raise ValueError(f"Unknown activation {activation!r}; known are tanh, relu.")
        if normalization not in ("none", "layer"):
            raise ValueError(f"Unknown normalization {normalization!r}; known are none, layer.")
        self.kind = kind
        self.units = units
        self.activation = activation
        self.normalization = normalization
        self.initializer = initializer
        self.epsilon = epsilon
        self.state_size = [units] * (2 if kind == "lstm" else 1)

    def build(self, input_shape):
        """Make the weights. `input_shape` is that of the inputs of `project`."""
        scheme, width = weight_scheme(self.initializer), NUM_GATES[self.kind] * self.units
        shapes = {"kernel": (input_shape[-1], width), "recurrent_kernel": (self.units, width)}
        self.kernel, self.recurrent_kernel = (
            self.add_weight(name=name, shape=shape, initializer=make())
            for (name, shape), make in zip(shapes.items(), (scheme.kernel, scheme.recurrent), strict=True)
        )
        forget_bias = scheme.forget_bias if self.kind == "lstm" else 0.0

        def first_bias(shape, dtype=None):
            is_forget_gate = (ops.arange(shape[0]) // self.units) == 1
            return ops.cast(ops.where(is_forget_gate, forget_bias, 0.0), dtype or "float32")

        self.bias = self.add_weight(name="bias", shape=(width,), initializer=first_bias)
        self.gain = None
        if self.normalization == "layer":
            self.gain = self.add_weight(name="gain", shape=(width,), initializer="ones")

    def make_projection(self, num_channels: int, first: int = 0):
        """Make `project` for some channels of the inputs. The function cuts their part of the matrix only once.

        Args:
            num_channels: of the inputs.
            first: as for `project`.
        """
        kernel = self._weight(self.kernel)[first : first + num_channels]
        bias = None if first or self.gain is not None else self._weight(self.bias)

        def project(inputs):
            with keras.name_scope(self.name):  # for profiles, as in `call`
                projected = ops.matmul(ops.cast(inputs, self.compute_dtype), kernel)
                return projected if bias is None else projected + bias

        return project

    def project(self, inputs, first: int = 0):
        """Map inputs: float `(..., channels)` → `(..., gates * units)`.

        Args:
            inputs: all channels of the inputs, or some that follow each other. The projections of all channels must be
                added up.
            first: number of the first channel of `inputs`. Without layer normalisation, the projection of channel 0
                includes the bias.
        """
        return self.make_projection(inputs.shape[-1], first)(inputs)

    def call(self, inputs, states):
        return self.make_step()(inputs, states)

    def make_step(self):
        """Make a `call` for a loop over steps. It cuts the recurrent matrix only once.

        Returns:
            A function with the arguments and results of `call`. It is valid until the weights change.
        """
        recurrent = self._weight(self.recurrent_kernel)
        if self.kind != "gru":
            return lambda inputs, states: self._next(inputs, states, recurrent)
        kernel = GruKernel.of(recurrent)

        def gru_step(inputs, states):
            output = next_gru_state(inputs, states[0], kernel, self._normalized)
            return output, [output]

        return gru_step

    def _next(self, inputs, states, recurrent):
        """The output and the states of an RNN or an LSTM after a step."""
        with keras.name_scope("recurrent_cell"):  # for profiles
            sums = self._normalized(inputs + ops.matmul(states[0], recurrent), 0)
            if self.kind == "rnn":
                output = ops.relu(sums) if self.activation == "relu" else ops.tanh(sums)
                return output, [output]
            input_gate, forget_gate, candidate, output_gate = ops.split(sums, 4, axis=-1)
            memory = ops.sigmoid(forget_gate) * states[1] + ops.sigmoid(input_gate) * ops.tanh(candidate)
            output = ops.sigmoid(output_gate) * ops.tanh(memory)
            return output, [output, memory]

    @property
    def has_gru_loop(self) -> bool:
        """Whether `gru_outputs` and `attending_gru_outputs` can run this cell. They were tested in float32 only."""
        return self.kind == "gru" and self.gain is None and self.compute_dtype == "float32"

    def _normalized(self, sums, first_gate: int):
        """Normalise each gate: float `(batch, k * units)`, the sums of k gates from `first_gate` on."""
        if self.gain is None:
            return sums
        columns = slice(first_gate * self.units, first_gate * self.units + sums.shape[-1])
        values = ops.reshape(ops.cast(sums, "float32"), (-1, sums.shape[-1] // self.units, self.units))
        centred = values - ops.mean(values, axis=-1, keepdims=True)
        standardized = centred * ops.rsqrt(ops.mean(ops.square(centred), axis=-1, keepdims=True) + self.epsilon)
        standardized = ops.cast(ops.reshape(standardized, (-1, sums.shape[-1])), self.compute_dtype)
        return standardized * self._weight(self.gain)[columns] + self._weight(self.bias)[columns]

    def _weight(self, variable):
        """A weight in the precision of the computation. Keras casts weights only inside `__call__`."""
        return ops.cast(ops.convert_to_tensor(variable), self.compute_dtype)

    def compute_output_shape(self, input_shape, states_shape):
        return (input_shape[0], self.units), states_shape

    def get_config(self):
        names = ("kind", "units", "activation", "normalization", "initializer", "epsilon")
        return super().get_config() | {name: getattr(self, name) for name in names}
