"""ByteNet's state and memory: their lengths for any position and any source."""

import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config.families.bytenet import ByteNetConfig

from ..contract.cases import draw_sentences, narrow, pad
from ..contract.traced_model import traced


def narrow_bytenet(**settings):
    return traced(narrow(ByteNetConfig, **settings))


@pytest.mark.thorough
def test_step_equals_call_with_the_dilations_of_the_thesis():
    net = narrow_bytenet(dilations=(1, 2, 4, 8, 16))
    source_ids, target_ids = draw_sentences([40], seed=1), draw_sentences([75], seed=2)
    expected = net.logits(source_ids, target_ids)
    np.testing.assert_allclose(net.logits_by_steps(source_ids, target_ids), expected, atol=1e-5)


@pytest.mark.parametrize("variant", ["bytenet", "simplified"])
def test_state_has_a_fixed_size(variant):
    net = narrow_bytenet(variant=variant)
    memory = net.encode(draw_sentences([5, 5]))
    state = net.model.initial_state(memory, max_length=9)
    longer = net.model.initial_state(memory, max_length=900)
    # The farthest tap looks 2 * 3 steps back. There are two blocks. Full blocks have half of the decoder's width of 16.
    shapes = tf.nest.map_structure(lambda tensor: tuple(tensor.shape), state)
    assert shapes == {"past": (2, 6, 2, 8 if variant == "bytenet" else 16), "written_by": (2, 6)}
    assert tf.nest.map_structure(lambda tensor: tuple(tensor.shape), longer) == shapes
    _, next_state = net.step([0, 0], state, memory, 0)
    assert tf.nest.map_structure(lambda tensor: tuple(tensor.shape), next_state) == shapes


def test_memory_length_follows_the_length_rule():
    source_ids = draw_sentences([7, 7])
    pair = narrow_bytenet(length_rule="pair")
    assert pair.encode(source_ids)["encoded"].shape == (2, 7, 8)
    assert pair.model.max_target_length(7) == 7
    assert pair.model.length_policy.pads_to_pair
    unfolding = narrow_bytenet(unfold_scale=1.2, unfold_offset=10)
    assert not unfolding.model.length_policy.pads_to_pair
    assert unfolding.encode(source_ids)["encoded"].shape == (2, 19, 8)  # 1.2 * 7 + 10, rounded up
    assert unfolding.model.max_target_length(7) == 19
    assert type(unfolding.model.max_target_length(7)) is int


def test_encoder_extends_each_source_by_the_length_rule():
    net = narrow_bytenet(unfold_scale=1.2, unfold_offset=10)
    encoded = net.encode(pad(draw_sentences([7, 2, 0])))["encoded"]
    lengths = np.any(convert_to_numpy(encoded) != 0, axis=-1).sum(axis=1)
    assert lengths.tolist() == [19, 13, 0]
