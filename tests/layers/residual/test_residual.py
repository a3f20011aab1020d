"""Residual blocks: places of biases and normalisations, masks, causality, and single steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.layers import ResidualBlock, ResidualSet, ResidualStack
from bytenet.layers.fast import HashedAlphaDropout, HashedDropout

from ..random_weights import random_values, with_random_weights

SIZES_AND_NORMS = [(size, norm) for size in ("full", "small") for norm in ("batch", "layer", "none")]


def make_block(dim=4, kernel_size=3, dilation_rate=2, causal=True, **arguments):
    block = ResidualBlock(dim, kernel_size, dilation_rate, causal, **arguments)
    block.build((None, None, dim))
    return with_random_weights(block, scale=0.5)


def trainable_shapes(block):
    return {weight.path.split("/", 1)[1]: tuple(weight.shape) for weight in block.trainable_weights}


@pytest.mark.parametrize("norm", ["batch", "layer"])
def test_full_block_has_a_bias_only_where_no_normalisation_follows(norm):
    assert trainable_shapes(make_block(normalization=norm)) == {
        "pre_normalization/normalization/beta": (4,),
        "reduce_dim/kernel": (1, 4, 2),
        "reduce_dim_normalization/normalization/beta": (2,),
        "conv_dilated/kernel": (3, 2, 2),
        "conv_dilated_normalization/normalization/beta": (2,),
        "recover_dim/kernel": (1, 2, 4),
        "recover_dim/bias": (4,),
    }


def test_full_block_without_normalisation_has_every_bias():
    assert trainable_shapes(make_block(normalization="none")) == {
        "reduce_dim/kernel": (1, 4, 2),
        "reduce_dim/bias": (2,),
        "conv_dilated/kernel": (3, 2, 2),
        "conv_dilated/bias": (2,),
        "recover_dim/kernel": (1, 2, 4),
        "recover_dim/bias": (4,),
    }


def test_small_block_is_one_convolution_with_a_bias():
    convolution = {"conv_dilated/kernel": (3, 4, 4), "conv_dilated/bias": (4,)}
    assert trainable_shapes(make_block(size="small", normalization="none")) == convolution
    beta = {"pre_normalization/normalization/beta": (4,)}
    assert trainable_shapes(make_block(size="small", normalization="layer")) == beta | convolution


@pytest.mark.parametrize(
    ("size", "bounds"),
    [
        # He before an activation. LeCun, divided by the number of blocks, before the residual addition.
        ("full", {"reduce_dim": 6 / 64, "conv_dilated": 6 / (3 * 32), "recover_dim": 3 / 32 / 15}),
        ("small", {"conv_dilated": 3 / (3 * 64) / 15}),
    ],
)
def test_initial_weights_depend_on_the_place_of_the_convolution(size, bounds):
    block = ResidualBlock(64, 3, 1, True, size, num_blocks=15)
    block.build((None, None, 64))
    for name, squared_bound in bounds.items():
        largest = np.abs(convert_to_numpy(getattr(block, name).kernel)).max()
        np.testing.assert_allclose(largest, squared_bound**0.5, rtol=0.02)


@pytest.mark.parametrize(("size", "norm"), SIZES_AND_NORMS)
def test_input_is_added_to_the_output(size, norm):
    block = make_block(size=size, normalization=norm)
    last = block.recover_dim if size == "full" else block.conv_dilated
    for weight in last.weights:
        weight.assign(np.zeros(weight.shape))
    inputs = random_values(2, 7, 4)
    np.testing.assert_array_equal(block(inputs), inputs)


@pytest.mark.parametrize(("size", "norm"), SIZES_AND_NORMS)
def test_padding_does_not_reach_the_real_steps_of_a_centred_block(size, norm):
    block = make_block(dim=8, causal=False, size=size, normalization=norm)
    inputs = random_values(2, 9, 8)
    mask = np.arange(9) < np.array([[9], [5]])
    changed = np.where(mask[..., None], inputs, 50 * random_values(2, 9, 8, seed=2))
    for training in (False, True):
        outputs = convert_to_numpy(block(inputs, mask=mask, training=training))
        changed_outputs = convert_to_numpy(block(changed, mask=mask, training=training))
        np.testing.assert_allclose(changed_outputs[mask], outputs[mask], atol=1e-5)
    without_mask = convert_to_numpy(block(changed))[mask] - convert_to_numpy(block(inputs))[mask]
    assert np.abs(without_mask).max() > 0.1


@settings(max_examples=15)
@given(position=st.integers(0, 8), size=st.sampled_from(["full", "small"]))
def test_causal_stack_does_not_see_later_steps(position, size):
    stack = ResidualStack(2, (1, 2), dim=4, kernel_size=2, causal=True, size=size)
    stack.build((None, None, 4))
    with_random_weights(stack, scale=0.5)
    inputs = random_values(1, 9, 4)
    changed = inputs.copy()
    changed[:, position] += 1
    before, after = convert_to_numpy(stack(inputs)), convert_to_numpy(stack(changed))
    np.testing.assert_allclose(before[:, :position], after[:, :position], atol=1e-6)
    assert np.abs(before[:, position] - after[:, position]).max() > 0.1


@pytest.mark.parametrize(("size", "norm"), SIZES_AND_NORMS)
@pytest.mark.parametrize(("kernel_size", "rate"), [(1, 1), (2, 3), (3, 2)])
def test_step_equals_call(size, norm, kernel_size, rate):
    block = make_block(kernel_size=kernel_size, dilation_rate=rate, size=size, normalization=norm)
    inputs = random_values(2, 9, 4)
    expected = convert_to_numpy(block(inputs))
    hiddens = [np.zeros((2, block.hidden_dim), "float32")] * block.conv_dilated.reach
    for t in range(9):
        past = [hiddens[-tap * rate] for tap in range(kernel_size - 1, 0, -1)]
        from_past = np.concatenate(past, axis=1) @ block.conv_dilated.past_kernel() if past else None
        output, hidden = block.step(inputs[:, t], from_past, block.step_kernels())
        hiddens.append(convert_to_numpy(hidden))
        np.testing.assert_allclose(output, expected[:, t], atol=1e-5)


@pytest.mark.parametrize("size", ["full", "small"])
def test_dropout_works_in_training_only(size):
    inputs = random_values(2, 9, 4)
    block, plain = make_block(size=size, dropout=0.5), make_block(size=size)
    np.testing.assert_array_equal(block(inputs), plain(inputs))
    assert np.abs(convert_to_numpy(block(inputs, training=True)) - convert_to_numpy(plain(inputs))).max() > 0.1


@pytest.mark.parametrize(("size", "norm"), SIZES_AND_NORMS)
def test_dropout_is_alpha_dropout_for_selu_without_normalisation(size, norm):
    selu = make_block(size=size, normalization=norm, activation="selu", dropout=0.5)
    relu = make_block(size=size, normalization=norm, activation="relu", dropout=0.5)
    assert type(selu.dropout) is (HashedAlphaDropout if norm == "none" else HashedDropout)
    assert type(relu.dropout) is HashedDropout


@pytest.mark.parametrize("size", ["full", "small"])
def test_selu_block_drops_units_to_the_minimum_of_selu(size):
    block = make_block(dim=64, causal=False, size=size, normalization="none", activation="selu", dropout=0.5)
    into_dropout, out_of_dropout = [], []
    dropout = block.dropout.call

    def watched(inputs, training=False):
        into_dropout.append(convert_to_numpy(inputs))
        out_of_dropout.append(convert_to_numpy(dropout(inputs, training=training)))
        return out_of_dropout[-1]

    block.dropout.call = watched
    block(random_values(8, 9, 64), training=True)
    assert len(into_dropout) == 1
    assert into_dropout[0].min() >= -1.7581  # SELU's outputs
    dropped = -1.7580993408473766 * 0.5 / (0.5 + 1.7580993408473766**2 / 4) ** 0.5
    assert np.isclose(out_of_dropout[0], dropped).mean() > 0.4


def test_stack_names_its_parts_with_the_terms_of_the_thesis():
    stack = ResidualStack(2, (1, 8), dim=4, kernel_size=3, causal=False, normalization="batch", name="encoder")
    stack.build((None, None, 4))
    paths = {weight.path for weight in stack.weights}
    assert "encoder/set_1/block_1_dilation_8/pre_normalization/normalization/beta" in paths
    assert "encoder/set_0/block_0_dilation_1/conv_dilated/kernel" in paths
    assert len(paths) == len(stack.weights) == 4 * (7 + 6)  # moving statistics of three normalisations
    assert [block.conv_dilated.dilation_rate for block in stack.blocks] == [1, 8, 1, 8]


def test_unknown_block_size_is_refused():
    with pytest.raises(ValueError, match="Unknown block size 'tiny'; known are full, small"):
        ResidualBlock(4, 3, 1, True, size="tiny")


@pytest.mark.parametrize("number", [-1, 4])
def test_number_of_identity_sets_is_one_of_the_stack(number):
    stack = ResidualStack(3, (1,), dim=4, kernel_size=2, causal=True)
    stack.build((None, None, 4))
    with pytest.raises(ValueError, match=f"number is {number}; expected a number from 0 to 3, the sets of the stack"):
        stack.make_last_sets_identity(number)


ARGUMENTS = {
    "dim": 4, "kernel_size": 3, "causal": True, "size": "small", "normalization": "none", "activation": "selu",
    "dropout": 0.1, "epsilon": 1e-4, "momentum": 0.9, "initializer": "he",
}  # fmt: skip


@pytest.mark.parametrize(
    "layer",
    [
        ResidualBlock(dilation_rate=4, num_blocks=3, name="block", **ARGUMENTS),
        ResidualSet([1, 4], num_blocks=3, name="set", **ARGUMENTS),
        ResidualStack(3, [1, 4], name="stack", **ARGUMENTS),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_configuration_round_trip(layer):
    config = layer.get_config()
    assert type(layer).from_config(config).get_config() == config
    assert all(config[name] == value for name, value in ARGUMENTS.items())
    assert layer.compute_output_shape((2, 9, 4)) == (2, 9, 4)
