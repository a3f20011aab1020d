"""Dropout with cheap random numbers."""

import keras
from keras import ops

_SELU_FLOOR = -1.7580993408473766  # -λα, the limit of SELU far below zero
# Multipliers of a 32-bit mixer with little bias (Wellons, "Hash function prospector", 2018-2022).
_MULTIPLIERS = (0x21F0AAAD, 0xD35A2D97 - 2**32)


@keras.saving.register_keras_serializable("bytenet")
class HashedDropout(keras.layers.Layer):
    """Dropout that drops a unit by a hash of the unit's number and the layer's random seed.

    A hash takes a dozen integer operations a unit. Keras's own random numbers take a hundred, and on a CPU XLA
    computes them again in each operation that reads them, up to eight times. On many hypotheses this took four fifths
    of a step's time.

    Mask: passed on, not used.

    Args:
        rate: share of the units set to zero in training, from 0 to below 1. The other units are scaled up, so that the
            mean stays the same.
        seed: int; None draws one from Python's `random`, as Keras's own layers do.

    Input and output: float `(..., channels)`.

    Raises:
        ValueError: `rate` is below 0, or is 1 or more.

    Reference:
        Srivastava et al. 2014.
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"rate is {rate}; expected a number from 0 to below 1.")
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
        """The outputs.

        Args:
            inputs: float `(..., channels)`.
            is_kept: bool of the same shape, true at the units that are kept.
            kept_share: the probability that a unit is kept.
        """
        scale = ops.cast(1 / kept_share, inputs.dtype)
        return ops.where(is_kept, inputs * scale, ops.zeros_like(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | {"rate": self.rate, "seed": self.seed}


@keras.saving.register_keras_serializable("bytenet")
class HashedAlphaDropout(HashedDropout):
    """Alpha dropout for the outputs of SELU: inputs of mean 0 and variance 1 leave with mean 0 and variance 1.

    A dropped unit becomes α' = -λα, the smallest output of SELU, instead of 0. Then all units go through one affine map
    a·x + b, with a = (q + α'²·q·(1 - q))^(-1/2), b = -a·(1 - q)·α', and q the share of the units that are kept. Mask,
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
    """Scramble int32 one to one: a change of one input bit flips each output bit with probability one half."""
    for shift, multiplier in zip((16, 15), _MULTIPLIERS, strict=True):
        values = ops.bitwise_xor(values, _shifted(values, shift)) * multiplier
    return ops.bitwise_xor(values, _shifted(values, 15))


def _shifted(values, bits: int):
    """Shift right and fill with zeros from the left, which `right_shift` does not do for signed numbers."""
    return ops.bitwise_and(ops.right_shift(values, bits), 2 ** (32 - bits) - 1)
