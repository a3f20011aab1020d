"""`step` over time gives the logits of `call`, at a cost that does not grow with the position."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import ByteNet

KINDS = {variant: {"variant": variant} for variant in ByteNetConfig.VARIANTS} | {
    "add": {"join": "add"},
    "simplified-add": {"variant": "simplified", "join": "add"},
    "pair": {"length_rule": "pair"},
    "thesis": {"settings": "thesis"},
    "unfold-half": {"unfold_scale": 0.5, "unfold_offset": 0},
    "one-tap": {"decoder_kernel_size": 1},
    "two-taps": {"decoder_kernel_size": 2},
    "four-taps": {"decoder_kernel_size": 4},
    "two-sets": {"num_sets": 2},
    "dilations-in-any-order": {"dilations": (3, 1, 1, 5)},
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@every_kind
@settings(max_examples=4)
@given(source_length=st.integers(1, 20), target_length=st.integers(1, 28))
def test_step_equals_call(narrow_bytenet, random_sentences, padded, kind, source_length, target_length):
    # The cache of a block holds 8 steps or a little more and so goes round several times. Short sources end
    # long before their targets.
    net = narrow_bytenet(**kind)
    source_ids = padded(random_sentences([source_length, source_length // 2 + 1], seed=1))
    target_ids = padded(random_sentences([target_length // 2 + 1, target_length], seed=2))
    expected = net.logits(source_ids, target_ids)
    np.testing.assert_allclose(net.logits_by_steps(source_ids, target_ids), expected, atol=1e-5)


def test_step_equals_call_with_the_dilations_of_the_thesis(narrow_bytenet, random_sentences):
    net = narrow_bytenet(dilations=(1, 2, 4, 8, 16))
    source_ids, target_ids = random_sentences([40], seed=1), random_sentences([75], seed=2)
    expected = net.logits(source_ids, target_ids)
    np.testing.assert_allclose(net.logits_by_steps(source_ids, target_ids), expected, atol=1e-5)


def test_step_works_outside_of_a_graph_with_a_plain_position(narrow_bytenet, random_sentences):
    net = narrow_bytenet()
    source_ids, target_ids = random_sentences([4], seed=1), random_sentences([3], seed=2)
    memory = net.model.encode(np.array(source_ids, "int32"))
    state = net.model.initial_state(memory, 3)
    expected = net.logits(source_ids, target_ids)
    for position, previous_id in enumerate([0, *target_ids[0][:-1]]):
        logits, state = net.model.step(np.array([previous_id], "int32"), state, memory, position)
        np.testing.assert_allclose(logits, expected[:, position], atol=1e-5)


def test_selected_rows_go_on_as_if_they_had_been_there_from_the_start(narrow_bytenet, random_sentences):
    """What a beam search does: before each step, hypotheses are repeated, dropped and reordered."""
    net, random = narrow_bytenet(), np.random.default_rng(3)
    source_ids = np.array(random_sentences([9, 9, 9], seed=1))
    written = np.zeros((3, 0), int)  # the characters of each hypothesis
    memory = net.encode(source_ids)
    state = net.model.initial_state(memory, 20)
    for position in range(20):
        previous_ids = written[:, -1] if position else [0, 0, 0]
        logits, state = net.step(previous_ids, state, memory, position)
        written = np.concatenate([written, random.integers(2, 11, (3, 1))], axis=1)
        np.testing.assert_allclose(logits, net.logits(source_ids, written)[:, -1], atol=1e-5)

        rows = random.integers(0, 3, 3)
        memory = tf.nest.map_structure(lambda tensor, rows=rows: tf.gather(tensor, rows), memory)
        state = net.model.select(state, rows)
        source_ids, written = source_ids[rows], written[rows]


@pytest.mark.parametrize("variant", ["bytenet", "simplified"])
def test_state_has_a_fixed_size(narrow_bytenet, random_sentences, variant):
    net = narrow_bytenet(variant)
    memory = net.encode(random_sentences([5, 5]))
    state = net.model.initial_state(memory, max_length=9)
    longer = net.model.initial_state(memory, max_length=900)
    # The farthest tap looks 2 * 4 steps back; three blocks; half of the decoder's width of 16 in a full block.
    shapes = tf.nest.map_structure(lambda tensor: tuple(tensor.shape), state)
    assert shapes == {"past": (2, 8, 3, 8 if variant == "bytenet" else 16), "written_by": (2, 8)}
    assert tf.nest.map_structure(lambda tensor: tuple(tensor.shape), longer) == shapes
    _, next_state = net.step([0, 0], state, memory, 0)
    assert tf.nest.map_structure(lambda tensor: tuple(tensor.shape), next_state) == shapes


def test_memory_is_as_long_as_the_length_rule_says(narrow_bytenet, random_sentences):
    source_ids = random_sentences([7, 7])
    pair = narrow_bytenet(length_rule="pair")
    assert pair.encode(source_ids)["encoded"].shape == (2, 7, 8)
    assert pair.model.max_target_length(7) == 7
    assert pair.model.length_policy.pads_to_pair
    unfolding = narrow_bytenet(unfold_scale=1.2, unfold_offset=10)
    assert not unfolding.model.length_policy.pads_to_pair
    assert unfolding.encode(source_ids)["encoded"].shape == (2, 19, 8)  # 1.2 * 7 + 10, rounded up
    assert unfolding.model.max_target_length(7) == 19
    assert type(unfolding.model.max_target_length(7)) is int


def test_encoder_goes_on_beyond_each_source_as_far_as_the_rule_says(narrow_bytenet, random_sentences, padded):
    net = narrow_bytenet(unfold_scale=1.2, unfold_offset=10)
    encoded = net.encode(padded(random_sentences([7, 2, 0])))["encoded"]
    lengths = np.any(convert_to_numpy(encoded) != 0, axis=-1).sum(axis=1)
    assert lengths.tolist() == [19, 13, 0]


def test_mixed_precision_steps_equal_calls_and_logits_are_float32(random_sentences):
    source_ids = np.array(random_sentences([6], seed=1), "int32")
    target_ids = np.array(random_sentences([9], seed=2), "int32")
    inputs = {"source_ids": source_ids, "target_ids": target_ids}
    config = ByteNetConfig(dim=8, num_sets=1, dilations=(1, 2))
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        model = ByteNet(config, 11)
        model(inputs)
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert model.compute_dtype == "bfloat16"
    assert all(weight.dtype == "float32" for weight in model.weights)
    exact = ByteNet(config, 11)
    exact(inputs)
    exact.set_weights(model.get_weights())

    logits = model(inputs)
    assert logits.dtype == "float32"
    np.testing.assert_allclose(logits, exact(inputs), atol=0.1)
    memory = model.encode(source_ids)
    state = model.initial_state(memory, 9)
    for position, previous_id in enumerate([0, *target_ids[0, :-1]]):
        step_logits, state = model.step(np.array([previous_id], "int32"), state, memory, position)
        assert step_logits.dtype == "float32"
        np.testing.assert_allclose(step_logits, logits[:, position], atol=0.1)
