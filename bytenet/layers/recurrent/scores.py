"""Attention of recurrent decoders: how well each source symbol fits the state of the decoder."""

import keras
from keras import ops

from bytenet.layers.attention.dot_attention import padding_offsets, score_offsets, softmax
from bytenet.layers.recurrent.initializers import weight_scheme

SCORES = ("additive", "concat", "dot", "general", "location")
WINDOWS = ("global", "monotonic", "predictive")


@keras.saving.register_keras_serializable("bytenet")
class SourceAlignment(keras.layers.Layer):
    """The weights of source symbols for states of the decoder.

    Scores of the encoded symbol H_j for the state s; W, U and v are trained:

    ```
    additive:  v · tanh(W s + U H_j + b)      Bahdanau's alignment model
    concat:    v · tanh(W s + U H_j)          Luong's W [s; H_j] with one matrix
    dot:       s · H_j
    general:   s · W H_j
    location:  row j of W s
    ```

    The weights are the softmax of the scores over the real symbols.

    Windows: "global" attends to all symbols. The others attend to the symbols at most `radius` from a position p and
    take the softmax over these. "monotonic": p is the number of the step, but at most the last symbol. "predictive":
    p = m · σ(v_p · tanh(W_p s)) for m source symbols, and the weights are multiplied by
    exp(−(j − p)² / (2 (radius / 2)²)), so that their sum is below 1. Symbols and steps are counted from 0; Luong et al.
    do not say from which number.

    Args:
        score: see above.
        units: width of the hidden layer, for "additive" and "concat".
        window: see above.
        radius: of the window, in symbols.
        max_positions: length of the longest source, for "location".
        initializer: a name in `WEIGHT_SCHEMES`.

    Mask: padding and symbols outside the window have weight 0. For a row of padding alone, the weights are finite.

    Raises:
        ValueError: a kind is unknown; with "location", a source of known length is longer than `max_positions`.

    Reference:
        Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015, sections 3.1 and 3.2.
    """

    def __init__(
        self, score: str, units: int, window: str = "global", radius: int = 10, max_positions: int = 512,
        initializer: str = "auto", **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        if score not in SCORES or window not in WINDOWS:
            raise ValueError(f"score is {score!r} and window {window!r}; known are {SCORES} and {WINDOWS}.")
        self.score = score
        self.units = units
        self.window = window
        self.radius = radius
        self.max_positions = max_positions
        self.initializer = initializer

    def build(self, input_shape):
        """Make the weights. `input_shape` has the shapes of the states and of the encoded source."""
        states, encoded = (shape[-1] for shape in input_shape)
        scheme = weight_scheme(self.initializer)
        self.state_map = self.key_map = self.vector = None
        if self.score in ("additive", "concat"):
            self.state_map = self._map_of_states(self.units, states, "state_map")
            self.key_map = keras.layers.Dense(
                self.units, use_bias=self.score == "additive", kernel_initializer=scheme.score(), name="key_map",
                dtype=self.dtype_policy,
            )  # fmt: skip
            self.vector = self.add_weight(name="vector", shape=(self.units, 1), initializer=scheme.vector())
        elif self.score == "general":
            self.key_map = keras.layers.Dense(
                states, use_bias=False, kernel_initializer=scheme.score(), name="key_map", dtype=self.dtype_policy
            )
        elif self.score == "location":
            self.state_map = self._map_of_states(self.max_positions, states, "state_map")
        if self.key_map is not None:
            self.key_map.build((None, encoded))
        if self.window == "predictive":
            self.position_map = self._map_of_states(states, states, "position_map")
            self.position_vector = self._map_of_states(1, states, "position_vector")

    def _map_of_states(self, width: int, channels: int, name: str) -> keras.layers.EinsumDense:
        """A linear map without a bias. Not `Dense`, whose gradient XLA cannot compile for rank 3 inside of a loop."""
        layer = keras.layers.EinsumDense(
            "bti,io->bto", (None, width), kernel_initializer=weight_scheme(self.initializer).score(), name=name,
            dtype=self.dtype_policy,
        )  # fmt: skip
        layer.build((None, None, channels))
        return layer

    @property
    def additive_weights(self) -> tuple:
        """The weights of the score "additive": those for states, float `(channels, units)`, and v, float `(units,)`."""
        return self.state_map.kernel, ops.convert_to_tensor(self.vector)[:, 0]

    def remember(self, encoded, source_ids):
        """What does not depend on the state: keys, and offsets of the scores.

        Args:
            encoded: float `(batch, S, channels)`.
            source_ids: int32 `(batch, S)`, 0 at padding.
        """
        with keras.name_scope(self.name):  # for profiles, as in `call`
            keys = encoded if self.key_map is None else self.key_map(encoded)
            return {"keys": keys, "offsets": padding_offsets(source_ids, self.compute_dtype)}

    def window_of(self, positions, memory):
        """The windows of steps, if they depend on nothing else.

        Args:
            positions: int32 `(steps,)`.
            memory: the result of `remember`.

        Returns:
            With the window "monotonic", float `(batch, steps, S)`: 0, or `UNATTENDED` outside the window. Else None.
        """
        if self.window != "monotonic":
            return None
        last = ops.maximum(_lengths(memory) - 1, 0.0)
        distances = _symbols(memory) - ops.minimum(ops.cast(positions, "float32")[:, None], last)
        return self._offsets(distances)

    def call(self, states, memory, window=None):
        """The weights.

        Args:
            states: float `(batch, steps, channels)`.
            memory: the result of `remember`.
            window: the result of `window_of` for these steps.

        Returns:
            float `(batch, steps, S)`.
        """
        scores = ops.cast(self._scores(states, memory["keys"]), "float32")
        scores = scores + ops.cast(memory["offsets"], "float32")[:, None]
        if window is not None:
            scores = scores + ops.cast(window, "float32")
        if self.window != "predictive":
            return ops.cast(softmax(scores), self.compute_dtype)
        relative_positions = self.position_vector(ops.tanh(self.position_map(states)))  # (batch, steps, 1)
        distances = _symbols(memory) - _lengths(memory) * ops.sigmoid(ops.cast(relative_positions, "float32"))
        weights = softmax(scores + self._offsets(distances))
        return ops.cast(weights * ops.exp(-2 * ops.square(distances / self.radius)), self.compute_dtype)

    def _scores(self, states, keys):
        """float `(batch, steps, S)`."""
        if self.score in ("dot", "general"):
            return ops.einsum("btc,bsc->bts", states, keys)
        if self.score != "location":
            hidden = ops.tanh(self.state_map(states)[:, :, None] + keys[:, None])  # (batch, steps, S, units)
            vector = ops.cast(ops.convert_to_tensor(self.vector), self.compute_dtype)
            return ops.sum(hidden * vector[:, 0], axis=-1)
        length = keys.shape[1] or ops.shape(keys)[1]
        if isinstance(length, int) and length > self.max_positions:
            raise ValueError(
                f"A source has {length} symbols, but the model has learned scores for {self.max_positions}. Give "
                "shorter sources, or train with a larger model.max_positions."
            )
        return self.state_map(states)[..., :length]

    def _offsets(self, distances):
        """The offsets of the scores for distances from the centre of a window, float32 of any shape."""
        return score_offsets(ops.abs(distances) <= self.radius, "float32")

    def compute_output_shape(self, states_shape, memory_shape, window_shape=None):
        return (*states_shape[:-1], memory_shape["offsets"][1])

    def get_config(self):
        names = ("score", "units", "window", "radius", "max_positions", "initializer")
        return super().get_config() | {name: getattr(self, name) for name in names}


def _symbols(memory):
    """The numbers of the source symbols, float32 `(S,)`."""
    return ops.arange(ops.shape(memory["offsets"])[1], dtype="float32")


def _lengths(memory):
    """The numbers of real source symbols, float32 `(batch, 1, 1)`."""
    return ops.sum(ops.cast(memory["offsets"] == 0, "float32"), axis=1)[:, None, None]
