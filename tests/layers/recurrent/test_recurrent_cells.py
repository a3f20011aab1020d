"""RNN, LSTM and GRU equal their equations, worked examples, NumPy loops, and Keras's layers."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.layers.recurrent.cells import NUM_GATES, RecurrentCell

from .loops import LENGTHS, MASK, SENTENCES, loop_over_steps, random_layer


def make_cell(kind, kernel, recurrent_kernel, bias=None, **arguments):
    """A cell with the given weights."""
    kernel, recurrent_kernel = np.atleast_2d(kernel), np.atleast_2d(recurrent_kernel)
    cell = RecurrentCell(kind, recurrent_kernel.shape[0], **arguments)
    cell.build((None, kernel.shape[0]))
    cell.kernel.assign(kernel)
    cell.recurrent_kernel.assign(recurrent_kernel)
    cell.bias.assign(np.zeros(kernel.shape[1]) if bias is None else bias)
    return cell


def step(cell, inputs, *states):
    """The next states, as float arrays, for one row."""
    rows = [np.array([row], "float32") for row in (inputs, *states)]
    _, new_states = cell(cell.project(rows[0]), rows[1:])
    return [convert_to_numpy(state)[0] for state in new_states]


# In the order i, f, c, o.
LSTM = {"kernel": [[0.5, 1.0, 2.0, -1.0]], "recurrent_kernel": [[-0.5, 0.5, 0.25, 1.0]]}


@pytest.mark.parametrize(("forget_bias", "output", "memory"), [(0.0, 0.272593, 1.018584), (1.0, 0.283348, 1.097619)])
def test_lstm_of_one_unit_equals_the_worked_example(forget_bias, output, memory):
    cell = make_cell("lstm", **LSTM, bias=[0.0, forget_bias, 0.0, 0.0])
    np.testing.assert_allclose(step(cell, [1.0], [0.4], [0.6]), [[output], [memory]], atol=1e-6)


def test_gru_of_one_unit_equals_the_worked_example():
    cell = make_cell("gru", kernel=[[1.0, 0.5, 1.0]], recurrent_kernel=[[0.5, -1.0, 2.0]])
    np.testing.assert_allclose(step(cell, [1.0], [0.4]), [[0.776266]], atol=1e-6)


def test_gru_resets_the_state_before_the_product():
    always_new, exchange = np.full((2, 2), 0.0), np.array([[0.0, 1.0], [1.0, 0.0]])
    cell = make_cell(
        "gru",
        kernel=np.zeros((1, 6)),
        recurrent_kernel=np.concatenate([always_new, always_new, exchange], axis=1),
        bias=[50.0, 50.0, np.log(9), -np.log(9), 0.0, 0.0],  # z = 1, r = [.9, .1]
    )
    np.testing.assert_allclose(step(cell, [0.0], [0.4, -0.2]), [[-0.019997, 0.345214]], atol=1e-6)


def test_memory_of_an_lstm_is_not_limited_to_one():
    """With all gates at σ(9), the memory adds up; only the output stays within (-1, 1)."""
    cell = make_cell("lstm", kernel=np.zeros((1, 4)), recurrent_kernel=np.zeros((1, 4)), bias=np.full(4, 9.0))
    states = [[0.0], [0.0]]
    for _ in range(5):
        states = step(cell, [0.0], *states)
    assert states[1][0] == pytest.approx(4.998, abs=5e-4)
    assert states[0][0] < 1


def test_gradient_of_the_memory_of_an_lstm_equals_the_formula():
    """The memory before a step acts directly, and through the output on the gates and the candidate.

    dc'/dc = f + (c f (1 − f) u_f + c̃ i (1 − i) u_i + i (1 − c̃²) u_c) o (1 − tanh² c), with h = o tanh(c).
    """
    cell = make_cell("lstm", **LSTM)
    memory, read = tf.constant([[0.6]]), 0.7
    with tf.GradientTape() as tape:
        tape.watch(memory)
        _, (_, new_memory) = cell(cell.project(np.ones((1, 1), "float32")), [read * tf.tanh(memory), memory])
    output = read * np.tanh(0.6)
    write, forget = (1 / (1 + np.exp(-value)) for value in (0.5 - 0.5 * output, 1.0 + 0.5 * output))
    candidate = np.tanh(2.0 + 0.25 * output)
    through_gates = 0.6 * forget * (1 - forget) * 0.5 + candidate * write * (1 - write) * -0.5
    through_candidate = write * (1 - candidate**2) * 0.25
    expected = forget + (through_gates + through_candidate) * read * (1 - np.tanh(0.6) ** 2)
    assert tape.gradient(new_memory, memory).numpy().item() == pytest.approx(expected, rel=1e-5)
    assert expected != pytest.approx(forget, rel=1e-2)


@pytest.mark.parametrize("normalization", ["none", "layer"])
@pytest.mark.parametrize("go_backwards", [False, True])
@pytest.mark.parametrize("kind", NUM_GATES)
def test_layer_reads_each_sentence_as_the_loop_in_numpy(kind, go_backwards, normalization):
    layer = random_layer(kind, go_backwards=go_backwards, normalization=normalization)
    outputs, states = layer(SENTENCES, mask=MASK)
    order = -1 if go_backwards else 1
    for row, length in enumerate(LENGTHS):
        expected = loop_over_steps(layer, SENTENCES[row, :length][::order])
        np.testing.assert_allclose(outputs[row, :length], expected[::order], atol=1e-5)
        np.testing.assert_allclose(states[0][row], expected[-1], atol=1e-5)


@pytest.mark.parametrize("kind", NUM_GATES)
def test_layer_equals_the_layer_of_keras(kind):
    layer = random_layer(kind)
    weights = [convert_to_numpy(weight) for weight in layer.weights]
    stock: keras.layers.Layer
    if kind == "gru":
        stock = keras.layers.GRU(3, reset_after=False, return_sequences=True)
        for weight in weights:  # Keras's update gate is 1 − z
            weight[..., :3] *= -1
    else:
        stock = {"rnn": keras.layers.SimpleRNN, "lstm": keras.layers.LSTM}[kind](3, return_sequences=True)
    stock.build((None, None, 2))
    stock.set_weights(weights)
    np.testing.assert_allclose(layer(SENTENCES)[0], stock(SENTENCES), atol=1e-5)


@pytest.mark.parametrize("kind", NUM_GATES)
def test_scale_of_the_maps_does_not_matter_with_layer_normalisation(kind):
    layer = random_layer(kind, normalization="layer", epsilon=1e-12)
    before = convert_to_numpy(layer(SENTENCES)[0])
    for weight in (layer.cell.kernel, layer.cell.recurrent_kernel):
        weight.assign(3.0 * weight)
    np.testing.assert_allclose(layer(SENTENCES)[0], before, atol=1e-4)
    layer.cell.gain.assign(2.0 * layer.cell.gain)
    assert np.abs(layer(SENTENCES)[0] - before).max() > 0.1


@pytest.mark.parametrize(("kind", "matrices"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
def test_number_of_weights_of_a_cell(kind, matrices):
    units, channels = 5, 3
    assert random_layer(kind, units, channels).count_params() == matrices * units * (units + channels + 1)
    normalised = random_layer(kind, units, channels, normalization="layer")
    assert normalised.count_params() == matrices * units * (units + channels + 2)


@pytest.mark.parametrize("kind", NUM_GATES)
def test_orthogonal_and_identity_matrices_are_drawn_for_each_gate(kind):
    for initializer in ("orthogonal", "identity"):
        cell = RecurrentCell(kind, 4, initializer=initializer)
        cell.build((None, 3))
        gates = np.split(convert_to_numpy(cell.recurrent_kernel), NUM_GATES[kind], axis=1)
        for gate in gates:
            np.testing.assert_allclose(gate @ gate.T, np.eye(4), atol=1e-5)
            assert np.allclose(gate, np.eye(4)) == (initializer == "identity")
        for one, other in itertools.pairwise(gates):
            assert np.allclose(one, other) == (initializer == "identity")


def test_irnn_keeps_its_state_without_inputs():
    cell = RecurrentCell("rnn", 2, activation="relu", initializer="identity")
    cell.build((None, 1))
    np.testing.assert_allclose(step(cell, [0.0], [0.25, 3.0]), [[0.25, 3.0]])


@pytest.mark.parametrize(("initializer", "forget_bias"), [("auto", 1), ("luong", 0)])
def test_only_forget_gates_may_begin_open(initializer, forget_bias):
    cell = RecurrentCell("lstm", 2, initializer=initializer)
    cell.build((None, 1))
    np.testing.assert_array_equal(cell.bias, [0, 0, forget_bias, forget_bias, 0, 0, 0, 0])


def test_unknown_cell_and_initializer_are_refused():
    with pytest.raises(ValueError, match="Unknown cell 'elman'; known are rnn, gru, lstm"):
        RecurrentCell("elman", 2)
    with pytest.raises(ValueError, match="Unknown initializer 'he'; known are auto, "):
        RecurrentCell("rnn", 2, initializer="he").build((None, 1))
