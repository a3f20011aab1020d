"""`step` over time gives the logits of `call`, at a cost that does not grow with the position."""

import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy


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
