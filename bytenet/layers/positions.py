"""Vectors that tell a network the position of each symbol."""

import math

import keras
from keras import ops

KINDS = ("sinusoidal", "sinusoidal_halves", "learned", "none")


@keras.saving.register_keras_serializable("bytenet")
class PositionEncoding(keras.layers.Layer):
    """Adds the vector of its position to each step.

    "sinusoidal": channel 2i is sin(n / 10000^(2i/d)) and channel 2i + 1 the cosine of the same angle, for position n,
    from 0, and d channels. "sinusoidal_halves": first all sines, then all cosines, with angles
    n / 10000^(i / (d/2 − 1)), as in tensor2tensor and fairseq. "learned": a trained vector for each position.
    "none": nothing is added.

    Mask: not used. Padded steps get their vectors, too, so a network must not read them.

    Args:
        kind: see above.
        max_length: number of learned positions; not used by the other kinds.
        initializer: for the table of learned positions, `(max_length, channels)`.

    Input: float `(batch, length, channels)`. Output: the same shape.

    Raises:
        ValueError: the kind is unknown; an input is longer than the table of learned positions, if its length is known.

    Reference:
        Vaswani et al. 2017, section 3.5; Gehring et al. 2017, section 3.1.
    """

    def __init__(self, kind: str, max_length: int = 1024, initializer="random_normal", **kwargs):
        super().__init__(**kwargs)
        if kind not in KINDS:
            raise ValueError(f"Unknown kind of positions {kind!r}; known are {', '.join(KINDS)}.")
        self.supports_masking = True
        self.kind = kind
        self.max_length = max_length
        self.initializer = keras.initializers.get(initializer)

    def build(self, input_shape):
        self.dim = input_shape[-1]
        if self.kind == "learned":
            self.table = self.add_weight(name="table", shape=(self.max_length, self.dim), initializer=self.initializer)

    def call(self, inputs):
        if self.kind == "none":
            return inputs
        length = inputs.shape[1] or ops.shape(inputs)[1]
        if self.kind != "learned":
            return inputs + ops.cast(self._waves(ops.arange(length, dtype="float32")[:, None]), inputs.dtype)
        if isinstance(length, int) and length > self.max_length:
            raise ValueError(f"A sequence has {length} steps, but the model has learned {self.max_length} positions.")
        return inputs + ops.convert_to_tensor(self.table)[:length]

    def step(self, inputs, position):
        """Add the vector of one position.

        Args:
            inputs: float `(batch, channels)`.
            position: from 0, an int or an int32 scalar; with "learned", below `max_length`. A tensor is not checked.

        Returns:
            float `(batch, channels)`.

        Raises:
            ValueError: `position` is an int without a learned vector.
        """
        if self.kind == "none":
            return inputs
        if self.kind == "learned":
            if isinstance(position, int) and not 0 <= position < self.max_length:
                raise ValueError(
                    f"The position is {position}, but the model has learned {self.max_length} positions; expected 0 to "
                    f"{self.max_length - 1}. Write shorter targets, or train with a larger model.max_positions."
                )
            return inputs + ops.cast(ops.take(ops.convert_to_tensor(self.table), position, axis=0), inputs.dtype)
        return inputs + ops.cast(self._waves(ops.cast(position, "float32")), inputs.dtype)

    def _waves(self, positions):
        """The sinusoids at positions, float32 `(..., 1)` → `(..., channels)`."""
        pairs = (self.dim + 1) // 2
        exponents = ops.arange(pairs, dtype="float32")
        exponents *= 2 / self.dim if self.kind == "sinusoidal" else 1 / max(pairs - 1, 1)
        angles = positions * ops.exp(-math.log(10000.0) * exponents)
        if self.kind == "sinusoidal_halves":
            return ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=-1)[..., : self.dim]
        waves = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
        return ops.reshape(waves, (*ops.shape(angles)[:-1], 2 * pairs))[..., : self.dim]

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | {
            "kind": self.kind,
            "max_length": self.max_length,
            "initializer": keras.initializers.serialize(self.initializer),
        }
