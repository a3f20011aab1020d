"""Dropout at half the price."""

import keras
from keras import ops

_STEPS = 2048  # 11 bits for either unit, of the 23 in a random float32
_SELU_FLOOR = -1.7580993408473766  # -λα: what SELU tends to far below zero


@keras.saving.register_keras_serializable("bytenet")
class PairedDropout(keras.layers.Layer):
    """Dropout that draws one random number for every two units, as the drawing is what dropout costs.

    The upper digits of the number decide over one unit and the lower ones over another, so that all units are
    still dropped independently. The rate is rounded to 1/2048 (2047/2048 at most), and what is kept is scaled to
    the exact mean.

    Mask: none is needed or passed on.

    Args:
        rate: share of the units set to zero in training, from 0 to below 1.
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
        kept_steps = max(round((1 - self.rate) * _STEPS), 1)
        if not training or kept_steps == _STEPS:
            return inputs
        *leading, channels = ops.shape(inputs)
        drawn = keras.random.uniform((*leading, -(-channels // 2)), seed=self.seed_generator) * _STEPS
        upper = ops.floor(drawn)
        is_kept = ops.concatenate([upper < kept_steps, (drawn - upper) * _STEPS < kept_steps], axis=-1)
        return self.drop(inputs, is_kept[..., :channels], kept_steps / _STEPS)

    def drop(self, inputs, is_kept, kept_share: float):
        """The outputs, once it is drawn what is kept: bool of the shape of `inputs`, true with odds `kept_share`."""
        scale = ops.cast(1 / kept_share, inputs.dtype)
        return ops.where(is_kept, inputs * scale, ops.zeros_like(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | {"rate": self.rate, "seed": self.seed}


@keras.saving.register_keras_serializable("bytenet")
class PairedAlphaDropout(PairedDropout):
    """Alpha dropout for the outputs of SELU: inputs of mean 0 and variance 1 leave with mean 0 and variance 1.

    A dropped unit becomes α' = -λα, the least that SELU gives, instead of 0; then all units go through one affine
    map a·x + b, with q the share kept, a = (q + α'²·q·(1 - q))^(-1/2) and b = -a·(1 - q)·α'. Draws, rate, mask,
    arguments and shapes are those of `PairedDropout`.

    Reference:
        Klambauer et al. 2017, section 3.
    """

    def drop(self, inputs, is_kept, kept_share: float):
        scale = (kept_share + _SELU_FLOOR**2 * kept_share * (1 - kept_share)) ** -0.5
        shift = -scale * (1 - kept_share) * _SELU_FLOOR
        kept = inputs * ops.cast(scale, inputs.dtype) + ops.cast(shift, inputs.dtype)
        return ops.where(is_kept, kept, ops.full_like(inputs, scale * _SELU_FLOOR + shift))
