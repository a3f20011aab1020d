"""The attention of the thesis's recurrent baseline."""

import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.layers.recurrent.thesis_decoder import AttentionCell

from ..random_weights import random_values


@pytest.mark.parametrize("jit_compile", [False, True])
def test_softmax_of_mixed_precision_is_computed_in_float32(jit_compile):
    """The keys are zero, so the scores are the offsets."""
    cell = AttentionCell(4, dtype="mixed_bfloat16")
    cell.build((1, 3))
    inputs, offsets, lower, upper, attention, encoded = (
        tf.cast(random_values(*shape), "bfloat16") for shape in ((1, 3), (1, 700), (1, 4), (1, 4), (1, 4), (1, 700, 4))
    )
    advance = tf.function(cell.advance, jit_compile=jit_compile)
    _, weights, _ = advance(inputs, [lower, upper, attention, tf.zeros_like(encoded), encoded, offsets])
    assert weights.dtype == "bfloat16"
    exponentials = np.exp(convert_to_numpy(tf.cast(offsets, "float64")))
    # Each weight is rounded once.
    np.testing.assert_allclose(
        tf.cast(weights, "float32"), exponentials / exponentials.sum(axis=-1, keepdims=True), rtol=2**-8
    )
