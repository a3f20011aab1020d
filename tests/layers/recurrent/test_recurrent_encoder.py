"""The recurrent encoder equals its layers. Reversal moves only the symbols before the end symbol."""

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.layers.recurrent.encoder import RecurrentEncoder, reversed_order

from ..random_weights import with_random_weights
from .loops import LENGTHS, MASK, SENTENCES, loop_over_steps


def random_encoder(**arguments):
    encoder = RecurrentEncoder("gru", 2, 2, **arguments)
    encoder.build((None, None, 2))
    return with_random_weights(encoder)


@pytest.mark.parametrize("meeting", ["layer", "end"])
def test_encoder_of_both_directions_equals_its_layers_in_numpy(meeting):
    encoder = random_encoder(directions="both", meeting=meeting)
    outputs, states = encoder(SENTENCES, mask=MASK)
    forward, backward = encoder.layers_by_direction
    for row, length in enumerate(LENGTHS):
        inputs = [SENTENCES[row, :length]] * 2
        for layer, (ahead, behind) in enumerate(zip(forward, backward, strict=True)):
            read = [loop_over_steps(ahead, inputs[0]), loop_over_steps(behind, inputs[1][::-1])[::-1]]
            np.testing.assert_allclose(states[layer][0][row], [*read[0][-1], *read[1][0]], atol=1e-5)
            inputs = [np.concatenate(read, axis=1)] * 2 if meeting == "layer" else read
        np.testing.assert_allclose(outputs[row, :length], np.concatenate(read, axis=1), atol=1e-5)


def test_reversal_moves_neither_end_symbol_nor_padding():
    ids = np.array([[5, 6, 7, 1, 0, 0], [4, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
    order = convert_to_numpy(reversed_order(ids))
    np.testing.assert_array_equal(
        np.take_along_axis(ids, order, axis=1),
        [[7, 6, 5, 1, 0, 0], [4, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
    )
    np.testing.assert_array_equal(np.take_along_axis(order, order, axis=1), np.tile(np.arange(6), (4, 1)))
