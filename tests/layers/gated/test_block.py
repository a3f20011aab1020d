"""The layers of ConvS2S: the order of attention and residual connection, weights, masks and single steps."""

import math

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.layers.gated.block import GatedBlock
from bytenet.layers.gated.stack import GatedStack

from ..random_weights import random_values, with_random_weights


def draw_memory(batch, length, dim):
    offsets = np.where(np.arange(length) < np.array([length, length - 2])[:, None, None], 0, -3e4)
    keys, values = (random_values(batch, length, dim, seed=seed) for seed in (2, 3))
    return keys, values, offsets.astype("float32")


@pytest.mark.parametrize(("equations", "expected"), [("code", 1.355090), ("text", 2.039440)])
def test_one_decoder_position_of_a_worked_example(equations, expected):
    """All maps are 1, v is 1, g is .5, z is [1, -1], e is [.5, .5], the input is .3, and there are 2 source symbols."""
    block = GatedBlock(1, 1, True, attention_dim=1, equations=equations)
    block.build((None, None, 1))
    for layer in (block.convolution, *block.maps.values()):
        layer.kernel.assign(np.ones(layer.kernel.shape))
        layer.gain.assign(np.ones(layer.gain.shape))
    block.convolution.gain.assign([2 / 0.3, 0.0])  # A is 2, B is 0, and so v is 1
    keys = np.array([[[1.0], [-1.0]]], "float32")
    values = (keys + 0.5) * math.sqrt(2) * (math.sqrt(0.5) if equations == "code" else 1.0)
    inputs, embedded = np.full((1, 1, 1), 0.3, "float32"), np.full((1, 1, 1), 0.5, "float32")
    memory = (keys, values, np.zeros((1, 1, 2), "float32"))
    outputs, weights = block(inputs, embedded, memory)
    np.testing.assert_allclose(outputs, [[[expected]]], atol=2e-6)
    first = {"code": 0.892958, "text": 0.944720}[equations]
    np.testing.assert_allclose(weights, [[[first, 1 - first]]], atol=1e-6)


def test_unknown_equations_are_refused():
    with pytest.raises(ValueError, match="Unknown equations 'paper'; known are code, text"):
        GatedBlock(4, 3, True, equations="paper")


@pytest.mark.parametrize("width", [4, 6])
def test_block_has_a_linear_map_only_where_the_width_changes(width):
    block = GatedBlock(width, 3, False)
    block.build((None, None, 4))
    shapes = {"gated_convolution": (3, 4, 2 * width)} | ({"residual_map": (1, 4, 6)} if width == 6 else {})
    kernels = {weight.path.split("/")[-2]: tuple(weight.shape) for weight in block.weights if weight.name == "kernel"}
    assert kernels == shapes
    plain = GatedBlock(width, 3, False, weight_normalization=False)
    plain.build((None, None, 4))
    assert plain.count_params() == block.count_params() - 2 * width - (6 if width == 6 else 0)


def test_block_without_attention_averages_gated_convolution_and_input():
    block = GatedBlock(4, 3, False)
    block.build((None, None, 4))
    with_random_weights(block)
    inputs = random_values(2, 5, 4)
    convolved = convert_to_numpy(block.convolution(inputs))
    expected = (convolved[..., :4] / (1 + np.exp(-convolved[..., 4:])) + inputs) * math.sqrt(0.5)
    np.testing.assert_allclose(block(inputs), expected, atol=1e-5)


def test_dropout_is_for_the_input_of_the_convolution_and_not_for_the_residual_connection():
    keras.utils.set_random_seed(1)
    block = GatedBlock(4, 3, False, dropout=0.99999)
    block.build((None, None, 4))
    with_random_weights(block).convolution.bias.assign(np.zeros(8))
    inputs = random_values(2, 5, 4)
    np.testing.assert_allclose(block(inputs, training=True), inputs * math.sqrt(0.5), atol=1e-6)
    assert np.abs(block(inputs) - inputs * math.sqrt(0.5)).max() > 1e-2


@pytest.mark.parametrize("kernel_size", [3, 4])
def test_padded_steps_do_not_reach_real_steps(kernel_size):
    stack = GatedStack([4, 6], [kernel_size] * 2, 3)
    stack.build((None, None, 4))
    with_random_weights(stack)
    mask = np.arange(7) < np.array([4, 7])[:, None]
    inputs = random_values(2, 7, 4)
    outputs, weights = stack(inputs, mask=mask)
    assert weights == []
    changed, _ = stack(inputs + 10 * ~mask[..., None], mask=mask)
    np.testing.assert_array_equal(changed[0, :4], outputs[0, :4])
    alone, _ = stack(inputs[:1, :4])
    np.testing.assert_allclose(outputs[0, :4], alone[0], atol=1e-5)


@pytest.mark.parametrize("equations", ["code", "text"])
def test_step_for_several_hypotheses_of_a_source_equals_call(equations):
    block = GatedBlock(6, 1, True, attention_dim=3, equations=equations)
    block.build((None, None, 4))
    with_random_weights(block)
    memory, inputs, embedded = draw_memory(2, 5, 3), random_values(2, 4, 4), random_values(2, 4, 3, seed=4)
    expected, weights = block(inputs, embedded, memory)
    assert weights.shape == (2, 4, 5)
    np.testing.assert_array_equal(weights[1, :, 3:], 0)
    # With one tap, four steps of a source are the same as four hypotheses at one step.
    rows = [keras.ops.reshape(values, (8, -1)) for values in (inputs, embedded)]
    outputs = block.step(*rows, [keras.ops.array(part) for part in memory], None, block.step_kernels())
    np.testing.assert_allclose(outputs, keras.ops.reshape(expected, (8, 6)), atol=1e-5)


def test_stack_attends_in_the_chosen_layers():
    stack = GatedStack([4, 4, 5], [3, 2, 1], 7, True, attention_layers=[1, 3], attention_dim=3)
    stack.build((None, None, 3))
    assert [block.attention_dim for block in stack.blocks] == [3, None, 3]
    outputs, weights = stack(random_values(2, 6, 3), draw_memory(2, 5, 3))
    assert outputs.shape == (2, 6, 7)
    assert [tuple(of_layer.shape) for of_layer in weights] == [(2, 6, 5)] * 2


def test_configuration_round_trip():
    stack = GatedStack([4, 5], [3, 2], 6, True, [2], 3, "text", 0.1, False, name="decoder")
    assert GatedStack.from_config(stack.get_config()).get_config() == stack.get_config()
    block = stack.blocks[1]
    assert GatedBlock.from_config(block.get_config()).get_config() == block.get_config()
