"""What all recurrent decoders have in common."""

import keras
import numpy as np
import pytest
from keras import ops

from bytenet.layers.recurrent.context_decoder import ContextDecoder
from bytenet.layers.recurrent.decoder import RecurrentDecoder
from bytenet.layers.recurrent.luong_decoder import LuongDecoder
from bytenet.layers.recurrent.stack_decoder import StackDecoder
from bytenet.layers.recurrent.thesis_decoder import AttentionCell, ThesisDecoder

from ..random_weights import random_values

DECODERS = [ContextDecoder, LuongDecoder, StackDecoder, ThesisDecoder]


@pytest.mark.parametrize("decoder", DECODERS)
def test_decoders_have_the_interface_and_keep_their_registered_names(decoder):
    assert issubclass(decoder, RecurrentDecoder)
    assert not decoder.__abstractmethods__
    assert keras.saving.get_registered_name(decoder) == f"bytenet>{decoder.__name__}"


def test_attention_weights_of_the_thesis_have_the_precision_of_the_layer():
    decoder = ThesisDecoder(AttentionCell(4, dtype="mixed_bfloat16"), dtype="mixed_bfloat16")
    decoder.build((None, None, 2))
    embedded, encoded = (ops.cast(random_values(*shape), "bfloat16") for shape in ((2, 3, 2), (2, 5, 4)))
    weights = decoder.attention_weights(embedded, decoder.remember(encoded, None, None))
    assert weights.shape == (2, 3, 5)
    assert keras.backend.standardize_dtype(weights.dtype) == "bfloat16"
    np.testing.assert_allclose(ops.sum(ops.cast(weights, "float32"), axis=-1), 1, atol=0.02)
