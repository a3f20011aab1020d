"""Dropout whose random numbers cost next to nothing."""

import keras
from keras import ops

_SELU_FLOOR = -1.7580993408473766  # -λα: what SELU tends to far below zero
# Multipliers of a mixer of 32 bits with little bias, found by search (Wellons, "Hash function prospector", 2018-2022).
_MULTIPLIERS = (0x21F0AAAD, 0xD35A2D97 - 2**32)


@keras.saving.register_keras_serializable("bytenet")
class HashedDropout(keras.layers.Layer):
    """Dropout that decides over a unit by a hash of the unit's number and the layer's random seed.

    A dozen whole-number operations a unit, which XLA computes where it needs them. Keras's own draw is a hundred,
    and on a CPU XLA repeats them, up to eight times over, in whatever reads them: in a step on many hypotheses that
    was four fifths of the time.

    Mask: not used; one on the input is handed on.

    Args:
        rate: share of the units set to zero in training, from 0 to below 1; what is kept is scaled to the same mean.
        seed: int; None draws one from Python's `random`, as Keras's own layers do.

    Input and output: float `(..., channels)`.

    Reference:
        Srivastava et al. 2014.
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"rate must be from 0 to below 1; found {rate}.")
        self.supports_masking = True
        self.rate = rate
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.built = True

    def call(self, inputs, training=False):
        if not training or self.rate == 0:
            return inputs
        shape = ops.shape(inputs)
        count = 1
        for size in shape:
            count = count * size
        seed = ops.cast(self.seed_generator.next(), "int32")
        numbers = ops.reshape(ops.arange(count, dtype="int32"), shape)
        drawn = _mixed(ops.bitwise_xor(_mixed(numbers + seed[0]), seed[1]))
        is_kept = ops.bitwise_and(drawn, 2**31 - 1) >= round(self.rate * 2**31)
        return self.drop(inputs, is_kept, 1 - self.rate)

    def drop(self, inputs, is_kept, kept_share: float):
        """The outputs, once it is drawn what is kept: bool of the shape of `inputs`, true with odds `kept_share`."""
        scale = ops.cast(1 / kept_share, inputs.dtype)
        return ops.where(is_kept, inputs * scale, ops.zeros_like(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | {"rate": self.rate, "seed": self.seed}


@keras.saving.register_keras_serializable("bytenet")
class HashedAlphaDropout(HashedDropout):
    """Alpha dropout for the outputs of SELU: inputs of mean 0 and variance 1 leave with mean 0 and variance 1.

    A dropped unit becomes α' = -λα, the least that SELU gives, instead of 0; then all units go through one affine
    map a·x + b, with q the share kept, a = (q + α'²·q·(1 - q))^(-1/2) and b = -a·(1 - q)·α'. Draws, rate, mask,
    arguments and shapes are those of `HashedDropout`.

    Reference:
        Klambauer et al. 2017, section 3.
    """

    def drop(self, inputs, is_kept, kept_share: float):
        scale = (kept_share + _SELU_FLOOR**2 * kept_share * (1 - kept_share)) ** -0.5
        shift = -scale * (1 - kept_share) * _SELU_FLOOR
        kept = inputs * ops.cast(scale, inputs.dtype) + ops.cast(shift, inputs.dtype)
        return ops.where(is_kept, kept, ops.full_like(inputs, scale * _SELU_FLOOR + shift))


def _mixed(values):
    """A one-to-one scrambling of int32 in which each bit of the input flips each bit of the output half of the time."""
    for shift, multiplier in zip((16, 15), _MULTIPLIERS, strict=True):
        values = ops.bitwise_xor(values, _shifted(values, shift)) * multiplier
    return ops.bitwise_xor(values, _shifted(values, 15))


def _shifted(values, bits: int):
    """Shift right, with zeros from the left, which `right_shift` does not do for signed numbers."""
    return ops.bitwise_and(ops.right_shift(values, bits), 2 ** (32 - bits) - 1)
