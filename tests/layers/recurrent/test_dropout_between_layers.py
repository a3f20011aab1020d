"""Dropout between recurrent layers works only in training. Where all is dropped, no layer sees the layer below."""

import keras
import numpy as np
import pytest

from bytenet.layers.recurrent.encoder import RecurrentEncoder
from bytenet.layers.recurrent.luong_decoder import LuongDecoder
from bytenet.layers.recurrent.scores import SourceAlignment
from bytenet.layers.recurrent.stack_decoder import StackDecoder

from ..random_weights import random_values

ENCODED = random_values(2, 3, 4, seed=2)
ALMOST_ALL = 0.99999


def encode(inputs, training):
    encoder = RecurrentEncoder("lstm", 4, 2, dropout=ALMOST_ALL)
    encoder.build(inputs.shape)
    return encoder(inputs, training=training)[0]


def decode(inputs, training):
    decoder = StackDecoder("gru", 4, 2, ALMOST_ALL)
    decoder.build(inputs.shape)
    return decoder(inputs, [[np.ones((2, 4), "float32")]] * 2, training=training)


def attend(inputs, training, feeding):
    stack = StackDecoder("gru", 4, 2, ALMOST_ALL)
    decoder = LuongDecoder(stack, SourceAlignment("dot", 4, window="monotonic", radius=2), feeding)
    decoder.build((inputs.shape, ENCODED.shape))
    memory = decoder.remember(ENCODED, [[np.ones((2, 4), "float32")]] * 2, np.array([[5, 6, 1], [5, 1, 0]]))
    return decoder.decode(inputs, memory, training=training)


@pytest.mark.parametrize(
    "run",
    [encode, decode, lambda *arguments: attend(*arguments, False), lambda *arguments: attend(*arguments, True)],
    ids=["encoder", "decoder", "attention", "attention and feeding"],
)
def test_dropout_between_layers_works_only_in_training(run):
    inputs = random_values(2, 5, 3)
    for training in (False, True):
        outputs = []
        for values in (inputs, -inputs):
            keras.utils.set_random_seed(1)  # the same initial weights
            outputs.append(np.asarray(run(values, training)))
        assert (np.abs(outputs[0] - outputs[1]).max() > 1e-3) != training
