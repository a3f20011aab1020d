"""The multiply-adds of a step and the size of the state, for one sentence, with the sizes for characters."""

import pytest
import tensorflow as tf

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.config.families.transformer import TransformerConfig
from bytenet.models import build_model
from bytenet.profiling.benchmarks.flops import graph_flops

SYMBOLS, SOURCE_LENGTH, MAX_LENGTH = 100, 80, 96


@pytest.mark.parametrize(
    ("config", "multiply_adds", "floats"),
    [
        # A set of 5 blocks of width 256, and the head. The state has 2 steps for each block and dilation.
        (ByteNetConfig(dim=128, num_sets=1), 5 * (2 * 256 * 128 + 3 * 128**2) + 256 * 100, 5 * 32 * 128),
        # Attention of 4 heads of 32 channels: queries, 33 symbols in the window or all 80, and the map back.
        (
            ByteNetConfig(dim=128, num_sets=1, source_attention="window"),
            5 * (2 * 256 * 128 + 3 * 128**2) + 256 * 100 + 2 * 256 * 128 + 2 * 33 * 128,
            5 * 32 * 128,
        ),
        (
            ByteNetConfig(dim=128, num_sets=1, source_attention="full"),
            5 * (2 * 256 * 128 + 3 * 128**2) + 256 * 100 + 2 * 256 * 128 + 2 * 80 * 128,
            5 * 32 * 128,
        ),
        # 6 layers: convolution, two maps of the attention, keys and values; and the maps below and above.
        (ConvS2SConfig(), 6 * (2 * 5 * 128**2 + 2 * 128**2 + 2 * 80 * 128) + 2 * 128**2 + 128 * 100, 3_072),
        # 4 layers: six maps, the feed-forward network, all slots of the own past, and the source.
        (TransformerConfig(), 4 * (6 * 128**2 + 2 * 128 * 512 + 2 * 96 * 128 + 2 * 80 * 128) + 128 * 100, 98_304),
        (RecurrentConfig(variant="sutskever"), 4 * 256 * (128 + 256) + 8 * 256**2 + 256 * 100, 1_024),
        # The symbols of the source are projected once to the 3 gates, so a step only adds them up. The sum with the
        # vector of the scores is elementwise and not counted, which would be 80 * 256.
        (
            RecurrentConfig(variant="bahdanau"),
            256**2 + 80 * (3 * 256 + 2 * 256) + 3 * 256 * (128 + 256) + 256 * (128 + 3 * 256) + 128 * 100,
            256,
        ),
        # The part of W_c for the context is applied once to the source.
        (
            RecurrentConfig(variant="luong"),
            4 * 256 * (128 + 2 * 256) + 8 * 256**2 + 2 * 80 * 256 + 256**2 + 256 * 100,
            1_280,
        ),
    ],
    ids=lambda value: getattr(value, "variant", None),
)
def test_cost_of_a_step(config, multiply_adds, floats):
    model = build_model(config, SYMBOLS)

    @tf.function
    def begin(source_ids):
        memory = model.encode(source_ids)
        return memory, model.initial_state(memory, MAX_LENGTH)

    first = begin.get_concrete_function(tf.TensorSpec((1, SOURCE_LENGTH), tf.int32)).structured_outputs
    memory, state = tf.nest.map_structure(lambda tensor: tf.TensorSpec(tensor.shape, tensor.dtype), first)
    step = tf.function(lambda *arguments: model.make_step()(*arguments))
    ids, position = tf.TensorSpec((1,), tf.int32), tf.TensorSpec((), tf.int32)
    assert graph_flops(step.get_concrete_function(ids, state, memory, position).graph) == 2 * multiply_adds
    parts = [part for part in tf.nest.flatten(state) if part.dtype == tf.float32]
    assert sum(part.shape.num_elements() for part in parts) == floats
