"""The loops with cheaper gradients give the outputs and the gradients of the ordinary loops."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from bytenet.layers.recurrent.aligned_cell import AlignedCell
from bytenet.layers.recurrent.cells import RecurrentCell
from bytenet.layers.recurrent.context_decoder import ContextDecoder
from bytenet.layers.recurrent.encoder import RecurrentLayer

BATCH, STEPS, SYMBOLS, UNITS, CHANNELS = 3, 5, 4, 6, 7
HOLES = [[1, 0, 1, 1, 0], [0, 1, 0, 1, 0], [0, 0, 0, 0, 0]]
MODES = ["eager", "xla", "unknown sizes"]


def random(*shape):
    return tf.constant(np.random.default_rng(sum(shape)).normal(size=shape).astype("float32"))


def with_gradients(outputs_of, inputs, weights):
    """The outputs, and the gradients of a weighted sum of them."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = outputs_of(*inputs)
        factors = ops.sin(ops.cast(ops.arange(ops.size(outputs)), "float32"))
        total = ops.sum(outputs * ops.reshape(factors, ops.shape(outputs)))
    return [outputs, *tape.gradient(total, [*inputs, *(weight.value for weight in weights)])]


def in_mode(mode, function, inputs):
    """The result of a function that runs without a graph, is compiled with XLA, or does not know any size."""
    if mode == "eager":
        return function(*inputs)
    shapes = None if mode == "xla" else [tf.TensorSpec([None] * value.shape.rank, value.dtype) for value in inputs]
    return tf.function(function, input_signature=shapes, jit_compile=mode == "xla")(*inputs)


def assert_same(ours, plain):
    assert len(ours) == len(plain)
    for one, other in zip(ours, plain, strict=True):
        assert np.abs(one).max() > 0
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("go_backwards", [False, True])
@pytest.mark.parametrize("mask", [None, [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], HOLES])
@pytest.mark.parametrize("mode", MODES)
def test_a_layer_of_grus_reads_like_the_loop_of_keras(go_backwards, mask, mode):
    layer = RecurrentLayer("gru", UNITS, go_backwards=go_backwards)
    layer.build((None, None, CHANNELS))

    def compare(inputs, *mask):
        def plain(inputs):
            outputs, *_ = layer.loop(layer.cell.project(inputs), mask=mask[0] if mask else None)
            return ops.flip(outputs, axis=1) if go_backwards else outputs

        def ours(inputs):
            return layer(inputs, mask=mask[0] if mask else None)[0]

        inputs = ops.reshape(inputs, (*ops.shape(inputs)[:2], CHANNELS))
        return [with_gradients(outputs_of, [inputs], layer.trainable_weights) for outputs_of in (ours, plain)]

    masks = [] if mask is None else [tf.constant(mask) == 1]
    assert_same(*in_mode(mode, compare, [random(BATCH, STEPS, CHANNELS), *masks]))


@pytest.mark.parametrize("go_backwards", [False, True])
def test_the_last_state_is_that_after_the_last_real_step(go_backwards):
    layer = RecurrentLayer("gru", UNITS, go_backwards=go_backwards)
    inputs = random(2, STEPS, CHANNELS)
    _, (state,) = layer(inputs, mask=tf.constant([[True] * STEPS, [True, True, False, False, False]]))
    for row, length in ((0, STEPS), (1, 2)):
        alone, _ = layer(inputs[row : row + 1, :length])
        np.testing.assert_allclose(state[row], alone[0, 0 if go_backwards else -1], atol=1e-6)


def test_padding_keeps_the_first_state():
    layer = RecurrentLayer("gru", UNITS)
    first = random(2, UNITS)
    mask = tf.constant([[False] * STEPS, [False, True, True, True, True]])
    inputs = random(2, STEPS, CHANNELS)
    outputs, (last,) = layer(inputs, initial_state=[first], mask=mask)
    np.testing.assert_array_equal(outputs[0], np.tile(first[0], (STEPS, 1)))
    np.testing.assert_array_equal(last[0], first[0])
    np.testing.assert_array_equal(outputs[1, 0], first[1])
    alone, _ = layer(inputs[1:, 1:], initial_state=[first[1:]])
    np.testing.assert_allclose(outputs[1, 1:], alone[0], atol=1e-6)


@pytest.mark.parametrize("go_backwards", [False, True])
def test_first_states_have_their_gradient(go_backwards):
    layer = RecurrentLayer("gru", UNITS, go_backwards=go_backwards)
    layer.build((None, None, CHANNELS))
    inputs = [random(BATCH, STEPS, CHANNELS), random(BATCH, UNITS)]

    def plain(inputs, state):
        outputs, *_ = layer.loop(layer.cell.project(inputs), initial_state=[state])
        return ops.flip(outputs, axis=1) if go_backwards else outputs

    ours = with_gradients(lambda inputs, state: layer(inputs, [state])[0], inputs, layer.trainable_weights)
    assert_same(ours, with_gradients(plain, inputs, layer.trainable_weights))


def test_a_decoder_without_attention_has_the_gradients_of_its_loop(monkeypatch):
    decoder = ContextDecoder("gru", UNITS, 2)
    decoder.build(((None, None, 3), (None, None, UNITS), (None, UNITS)))
    inputs = [random(BATCH, STEPS, 3), random(BATCH, UNITS)]

    def outputs_of(embedded, state):
        return decoder(embedded, decoder.remember(None, [[state]], None))[0]

    ours = with_gradients(outputs_of, inputs, decoder.trainable_weights)
    monkeypatch.setattr(RecurrentCell, "has_gru_loop", False)
    assert_same(ours, with_gradients(outputs_of, inputs, decoder.trainable_weights))


@pytest.mark.parametrize("mode", MODES)
def test_a_gru_attends_like_its_cell(mode):
    decoder = ContextDecoder("gru", UNITS, 2, attention_units=5)
    decoder.build(((None, None, 3), (None, None, CHANNELS), (None, UNITS)))
    ids = np.array([[5, 6, 7, 8], [5, 6, 0, 0], [5, 0, 0, 0]])
    cell = decoder.loop.cell
    assert isinstance(cell, AlignedCell)

    inputs = [random(BATCH, STEPS, 3), random(BATCH, SYMBOLS, CHANNELS), random(BATCH, UNITS)]
    weights = [*cell.trainable_weights, *decoder.start_map.trainable_weights]

    def ours(projected, memory):
        return decoder._attend_in_all_steps(projected, [memory["start"]], memory)

    def plain(projected, memory):
        attended = [memory[name] for name in ("keys", "offsets", "projected")]
        return decoder.loop(projected, initial_state=[memory["start"], *attended])

    def compare(ids, *values):
        values = [
            ops.reshape(value, (*ops.shape(value)[:-1], random_value.shape[-1]))
            for value, random_value in zip(values, inputs, strict=True)
        ]

        def with_loop(loop):
            def outputs_of(embedded, encoded, state):
                return loop(decoder.cell.project(embedded), decoder.remember(encoded, [[state]], ids))

            return with_gradients(outputs_of, values, weights)

        return with_loop(ours), with_loop(plain)

    assert_same(*in_mode(mode, compare, [tf.constant(ids), *inputs]))


def test_other_cells_have_the_ordinary_loop(monkeypatch):
    monkeypatch.setattr("bytenet.layers.recurrent.encoder.gru_outputs", lambda *arguments: pytest.fail("it is run"))
    inputs = random(BATCH, STEPS, CHANNELS)
    for layer in (
        RecurrentLayer("lstm", UNITS), RecurrentLayer("gru", UNITS, normalization="layer"),
        RecurrentLayer("gru", UNITS, dtype="mixed_float16"),
    ):  # fmt: skip
        assert layer(inputs)[0].shape == (BATCH, STEPS, UNITS)
    with pytest.raises(pytest.fail.Exception):
        RecurrentLayer("gru", UNITS)(inputs)


@pytest.mark.parametrize("attention_units", [None, 5])
@pytest.mark.parametrize("arguments", [{}, {"kind": "lstm"}, {"normalization": "layer"}, {"dtype": "mixed_float16"}])
def test_decoders_of_other_cells_have_the_ordinary_loop(arguments, attention_units, monkeypatch):
    for name in ("gru_outputs", "attending_gru_outputs"):
        monkeypatch.setattr(
            f"bytenet.layers.recurrent.context_decoder.{name}", lambda *arguments: pytest.fail("it is run")
        )
    decoder = ContextDecoder(
        **{"kind": "gru", "units": UNITS, "readout_units": 2, "attention_units": attention_units} | arguments
    )
    decoder.build(((None, None, 3), (None, None, UNITS), (None, UNITS)))
    ids = np.ones((BATCH, SYMBOLS), "int32")
    embedded, encoded, state = (
        ops.cast(random(*shape), decoder.compute_dtype)
        for shape in ((BATCH, STEPS, 3), (BATCH, SYMBOLS, UNITS), (BATCH, UNITS))
    )
    memory = decoder.remember(encoded, [[state]], ids)
    if arguments:
        assert decoder.decode(embedded, memory).shape == (BATCH, STEPS, 2)
    else:
        with pytest.raises(pytest.fail.Exception):
            decoder.decode(embedded, memory)
