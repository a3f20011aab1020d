"""Names of operations in TensorFlow, and their groups."""

from collections import Counter
from dataclasses import fields, replace

import keras
import pytest
import tensorflow as tf

from bytenet.config import TrainingConfig
from bytenet.config.families import family_configs
from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.layers.fast.dropout import HashedDropout
from bytenet.models import build_model
from bytenet.models.registry import profile_parts
from bytenet.private_api import all_layers
from bytenet.profiling.traces.grouping import (
    INPUT,
    RUNTIME,
    folded_name,
    parts_of_layers,
    place_of,
    replica_of,
    update_of,
)
from bytenet.profiling.traces.plots.style import colour_of
from bytenet.training.optimizers.choice import make_optimizer
from bytenet.training.optimizers.keras_classes import optimizer_names

from ...contract.cases import CASES, VARIANT_CASES, VOCAB_SIZE, parametrize
from ...contract.traced_model import traced

_BLOCK = "StatefulPartitionedCall/bytenet_1/encoder_1/set_0_1/block_3_dilation_8_1"
_TAPE = "StatefulPartitionedCall/gradient_tape"
_BACK = "StatefulPartitionedCall/gradient_tape/bytenet_1/decoder_1/set_2_1/block_0_dilation_1_1"


@pytest.mark.parametrize(
    ("path", "kind", "place"),
    [
        (f"{_BLOCK}/conv_dilated_1/convolution", "_MklNativeConv2D", "forward encoder conv-dilated convolution"),
        (f"{_BLOCK}/conv_dilated_1/Pad", "Pad", "forward encoder conv-dilated data-movement"),
        (f"{_BLOCK}/pre_normalization_1/normalization_1/Sum", "Sum", "forward encoder pre-normalization normalisation"),
        (f"{_BLOCK}/pre_normalization_1/Relu", "Relu", "forward encoder pre-normalization activation"),
        (f"{_BLOCK}/reduce_dim_1/Tensordot/MatMul", "_MklMatMul", "forward encoder reduce-dim dense"),
        (f"{_BLOCK}/dropout_1/stateless_dropout/Mul", "Mul", "forward encoder other dropout"),
        ("StatefulPartitionedCall/recurrent_1/encoder_1/forward_dropout_1_1/SelectV2", "SelectV2",
         "forward encoder other dropout"),
        (f"{_TAPE}/transformer_1/decoder_1/layer_0_1/self_attention_dropout_1/Mul", "Mul",
         "backward decoder other dropout"),
        ("StatefulPartitionedCall/bytenet_1/character_dropout_1/Mul", "Mul", "forward other other dropout"),
        (f"{_BACK}/recover_dim_1/Tensordot/MatMul/MatMul", "_MklMatMul", "backward decoder recover-dim dense"),
        (f"{_BACK}/conv_dilated_normalization_1/ReluGrad", "ReluGrad", "backward decoder conv-dilated activation"),
        (f"{_BACK}/conv_dilated_1/convolution/Conv2DBackpropFilter", "_MklNativeConv2DBackpropFilter",
         "backward decoder conv-dilated convolution"),
        (f"{_BACK}/reduce_dim_normalization_1/normalization_1/truediv", "RealDiv",
         "backward decoder reduce-dim normalisation"),
        ("StatefulPartitionedCall/AddN_21", "AddN", "backward other other sum-of-gradients"),
        ("StatefulPartitionedCall/adam/mul_10", "Mul", "optimiser other other optimiser"),
        ("StatefulPartitionedCall/adam/CollectiveReduceV2_1", "CollectiveReduceV2",
         "optimiser other other communication"),
        ("StatefulPartitionedCall/bytenet_1/source_embedding_1/GatherV2", "GatherV2", "forward other embedding gather"),
        (f"{_BLOCK}/conv_dilated_1/GatherNd", "GatherNd", "forward encoder conv-dilated gather"),
        ("StatefulPartitionedCall/compile_loss/cross_entropy/LogSoftmax", "LogSoftmax", "forward other other loss"),
        ("StatefulPartitionedCall/ArgMax", "ArgMax", "other other other other"),
        ("IteratorGetNext", "IteratorGetNext", "input other other input-pipeline"),
        ("", RUNTIME, "other other other runtime"),
        ("", INPUT, "input other other input-pipeline"),
        # names in XLA, without the enclosing call; then a step of decoding in a loop
        ("bytenet/decoder/set_0/block_1_dilation_2/conv_dilated/convolution/BatchToSpaceND", "BatchToSpaceND",
         "forward decoder conv-dilated data-movement"),
        ("search/while/body/_1/search/while/decoder/reduce_dim_1/MatMul", "_MklMatMul",
         "forward decoder reduce-dim dense"),
        ("search/while/body/_1/search/while/decoder/conv_dilated/MatMul", "_MklBatchMatMulV2",
         "forward decoder conv-dilated dense"),
        # the attention model: its layers are in loops, and its own name is attention, too
        ("StatefulPartitionedCall/attention/decoder/while/body/_7/attention/decoder/while/cell/attention_context/MatMul",
         "_MklBatchMatMulV2", "forward decoder attention dense"),
        ("gradient_tape/attention/encoder/backward/gradients/attention/encoder/backward/layers/layer_1/MatMul_grad/MatMul",
         "MatMul", "backward encoder recurrent dense"),
        ("attention/decoder/TensorListPushBack", "TensorListPushBack", "forward decoder other other"),
        ("search/while/body/_1/search/while/decoder/cell/lower_gru/Tanh", "Tanh",
         "forward decoder recurrent activation"),
        # normalisation, whose gradients consist of basic operations
        (f"{_TAPE}/bytenet/decoder/set_0/block_1_dilation_2/reduce_dim_normalization/normalization/mul_1", "Mul",
         "backward decoder reduce-dim normalisation"),
        (f"{_TAPE}_11/bytenet/encoder/set_0/block_0_dilation_1/pre_normalization/normalization/Sum", "Sum",
         "backward encoder pre-normalization normalisation"),
        ("bytenet/encoder/set_0/block_0_dilation_1/reduce_dim/convert", "convert",
         "forward encoder reduce-dim data-movement"),
    ],
)  # fmt: skip
def test_operation_has_the_expected_pass_half_part_and_kind(path, kind, place):
    assert [group.replace(" ", "-") for group in place_of(path, kind)] == place.split()


@pytest.mark.parametrize(
    ("path", "replica"),
    [
        ("StatefulPartitionedCall/replica_1/bytenet_1/encoder_1/add", 1),
        ("StatefulPartitionedCall/gradient_tape/replica_3/bytenet_1/add", 3),
        ("StatefulPartitionedCall/adam/update_1/norm/Sum", 0),
        ("StatefulPartitionedCall/bytenet_1/encoder_1/add", 0),
    ],
)
def test_replica_is_read_from_the_name(path, replica):
    assert replica_of(path) == replica


@pytest.mark.parametrize("name", optimizer_names())
def test_every_optimiser_is_found(name):
    optimizer = make_optimizer(TrainingConfig(optimizer=name), 10)
    weights = [keras.Variable([[1.0, 2.0], [3.0, 4.0]])]
    optimizer.build(weights)
    step = tf.function(lambda gradient: optimizer.apply([gradient], weights))
    operations = step.get_concrete_function(tf.TensorSpec((2, 2))).graph.get_operations()
    passes = [place_of(operation.name, operation.type).pass_ for operation in operations]
    assert passes.count("optimiser") > 0.5 * len(passes)  # the others bring the gradient into its form, and count


def test_number_of_an_update_is_read_from_its_name():
    assert update_of("StatefulPartitionedCall/adam/update_1/norm/Sum") == 1
    assert update_of("StatefulPartitionedCall/bytenet_1/encoder_1/update_1_norm") == 0


def test_operations_of_all_replicas_have_the_same_group():
    one = "StatefulPartitionedCall/bytenet_1/encoder_1/set_0_1/block_0_dilation_1_1/reduce_dim_1/MatMul"
    other = one.replace("bytenet_1/", "replica_1/bytenet_1/", 1)
    assert place_of(one, "MatMul") == place_of(other, "MatMul")


def test_equal_operations_of_all_blocks_share_one_folded_name():
    names = {folded_name(f"{_BLOCK}/reduce_dim_1/mul_3"), folded_name(f"{_BLOCK}/reduce_dim/mul".replace("_0_", "_2_"))}
    assert names == {"bytenet/encoder/block/reduce_dim/mul"}


@pytest.mark.parametrize("family", family_configs())
def test_every_part_of_a_family_has_its_own_colour(family):
    colours = [colour_of(part) for part in {declared.part for declared in profile_parts()[family].values()} | {"other"}]
    assert len(set(colours)) == len(colours)


def test_layers_with_the_same_name_have_the_same_part_in_all_families():
    for of_family in profile_parts().values():
        assert of_family.items() <= parts_of_layers().items()


@parametrize(CASES)
def test_every_weight_belongs_to_a_part(case):
    parts = parts_of_layers()
    weights = traced(case.config).model.weights
    assert [weight.path for weight in weights if parts.keys().isdisjoint(weight.path.split("/"))] == []


@parametrize(VARIANT_CASES)
def test_every_dropout_layer_has_the_kind_dropout(case):
    rates = {field.name: 0.1 for field in fields(case.config) if field.name.endswith("dropout")}
    model = build_model(replace(case.config, **rates), VOCAB_SIZE)
    kinds = (HashedDropout, keras.layers.Dropout)
    names = [layer.name for layer in all_layers(model) if isinstance(layer, kinds)]
    assert len(names) > 1
    assert [name for name in names if place_of(f"{model.name}_1/{name}_1/Mul", "Mul").kind != "dropout"] == []


def products_in(function):
    """The products in the graph of a function of source and target ids."""
    ids = tf.TensorSpec((None, 5), tf.int32)
    graph = tf.function(function).get_concrete_function(ids, ids).graph.as_graph_def()
    nodes = [*graph.node, *(node for function in graph.library.function for node in function.node_def)]
    return [node for node in nodes if node.op in ("BatchMatMulV2", "Conv2D", "Einsum", "MatMul")]


@pytest.mark.parametrize("variant", ["bahdanau", "cho"])
def test_the_products_of_gradients_written_by_hand_belong_to_the_parts_of_their_layers(variant):
    model = build_model(RecurrentConfig(variant=variant, dim=8, embedding_dim=8, readout_dim=8), VOCAB_SIZE)

    def forward(source_ids, target_ids):
        return model({"source_ids": source_ids, "target_ids": target_ids})

    def gradient(source_ids, target_ids):
        with tf.GradientTape() as tape:
            logits = forward(source_ids, target_ids)
        return tape.gradient(logits, [weight.value for weight in model.trainable_weights])

    def places(products, pass_):
        found = [place_of(node.name, node.op) for node in products]
        return Counter((place.half, place.part) for place in found if place.pass_ == pass_)

    products = products_in(gradient)
    assert places(products, "forward") == places(products_in(forward), "forward")
    backward = places(products, "backward")
    assert min(backward["encoder", "recurrent"], backward["decoder", "recurrent"]) > 0
    assert (backward["decoder", "attention"] > 0) == (variant == "bahdanau")
    assert {place for place in backward if "other" in place} <= {("other", "other")}  # the head


@parametrize(VARIANT_CASES)
def test_every_product_belongs_to_a_part(case):
    model = build_model(case.config, VOCAB_SIZE)
    products = products_in(lambda source_ids, target_ids: model({"source_ids": source_ids, "target_ids": target_ids}))
    without_part = [node.name for node in products if place_of(node.name, node.op).part == "other"]
    assert len(products) > len(without_part) > 0
    assert [name for name in without_part if "/head_1/" not in name] == []
