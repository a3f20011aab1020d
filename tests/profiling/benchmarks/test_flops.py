"""Counted operations equal the numbers calculated by hand."""

import keras
import pytest
import tensorflow as tf

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.models import build_model
from bytenet.profiling.benchmarks.flops import forward_flops, graph_flops, training_step_flops
from bytenet.training.losses import RDropCrossEntropy

BATCH, SOURCE, TARGET, VOCAB = 3, 10, 13, 9
ENCODED = 12 + 24  # number of steps by the unfolding rule, ceil(1.2 * 10) + 24


def byte_net(variant="bytenet", **changes):
    sizes = {"dim": 8, "num_sets": 1, "dilations": (1, 2, 4)} | changes
    return build_model(ByteNetConfig(variant=variant, **sizes), VOCAB)


def full_block(width, kernel_size):
    """Multiply-adds of one step."""
    return width * width // 2 + kernel_size * (width // 2) ** 2 + width // 2 * width


def small_block(width, kernel_size):
    return kernel_size * width**2


@pytest.mark.parametrize(
    ("variant", "block"), [("bytenet", full_block), ("selu", full_block), ("simplified", small_block)]
)
def test_flops_of_bytenet_match_its_formula(variant, block):
    model = byte_net(variant)
    encoder_kernel, decoder_kernel = (getattr(model.config, f"{half}_kernel_size") for half in ("encoder", "decoder"))
    multiply_adds = BATCH * (
        3 * ENCODED * block(8, encoder_kernel) + 3 * TARGET * block(16, decoder_kernel) + TARGET * 16 * VOCAB
    )
    assert forward_flops(model, BATCH, SOURCE, TARGET) == 2 * multiply_adds
    assert training_step_flops(model, BATCH, SOURCE, TARGET) == 6 * multiply_adds


def gradient_flops(model, loss):
    """Operations of the traced gradient of a loss, a function of the model's inputs, in all weights of the model."""

    @tf.function
    def gradients(ids):
        with tf.GradientTape() as tape:
            value = loss(ids)
        return [tf.convert_to_tensor(g) for g in tape.gradient(value, [v.value for v in model.trainable_weights])]

    source, target = (tf.TensorSpec((BATCH, length), tf.int32) for length in (SOURCE, TARGET))
    return graph_flops(gradients.get_concrete_function({"source_ids": source, "target_ids": target}).graph)


def test_flops_of_traced_gradient_match_the_training_step():
    model = byte_net()
    flops = gradient_flops(model, lambda ids: tf.reduce_sum(model(ids, training=True) ** 2))
    assert flops == training_step_flops(model, BATCH, SOURCE, TARGET)


def test_flops_of_traced_gradient_of_r_drop_match_the_training_step():
    model = byte_net()
    model.compile(loss=RDropCrossEntropy(5.0))
    flops = gradient_flops(
        model, lambda ids: model.compute_loss(ids, ids["target_ids"], model(ids, training=True), training=True)
    )
    assert flops == training_step_flops(model, BATCH, SOURCE, TARGET)


def counted(function, *shapes):
    return graph_flops(
        tf.function(function).get_concrete_function(*(tf.TensorSpec(s, tf.float32) for s in shapes)).graph
    )


@pytest.mark.parametrize(
    ("function", "shapes", "flops"),
    [
        (lambda a, b: tf.matmul(a, b), [(2, 3), (3, 5)], 2 * 2 * 3 * 5),
        (lambda a, b: tf.matmul(a, b, transpose_a=True), [(3, 2), (3, 5)], 2 * 2 * 3 * 5),
        (lambda a, b: tf.matmul(a, b, transpose_b=True), [(4, 2, 3), (4, 5, 3)], 4 * 2 * 2 * 3 * 5),
        (lambda a, b: tf.matmul(a, b, transpose_a=True), [(4, 3, 2), (4, 3, 5)], 4 * 2 * 2 * 3 * 5),
        (lambda a, b: tf.einsum("bij,bkj->bik", a, b), [(4, 2, 3), (4, 5, 3)], 4 * 2 * 2 * 3 * 5),
        (lambda a, b: tf.einsum("...ij,jk->...ik", a, b), [(4, 2, 3), (3, 5)], 4 * 2 * 2 * 3 * 5),
        (lambda a: tf.einsum("ij->ji", a), [(4, 2)], 0),
        (
            lambda a, b: keras.ops.conv(a, b, padding="same", dilation_rate=3),
            [(2, 10, 3), (5, 3, 7)],
            2 * 2 * 10 * 5 * 21,
        ),
        (lambda a, b: keras.ops.conv(a, b, strides=2, padding="valid"), [(2, 9, 3), (3, 3, 7)], 2 * 2 * 4 * 3 * 21),
        (lambda a, b: tf.nn.conv3d(a, b, [1] * 5, "VALID"), [(1, 3, 4, 5, 2), (2, 2, 2, 2, 6)], 2 * 2 * 3 * 4 * 8 * 12),
        (lambda a: tf.nn.relu(a) + tf.reduce_mean(a), [(4, 2)], 0),
    ],
)
def test_flops_of_single_products_are_exact(function, shapes, flops):
    assert counted(function, *shapes) == flops


def test_functions_and_loops_count_once_for_each_execution():
    inner = tf.function(lambda a: tf.matmul(a, a))
    compiled = tf.function(lambda a: tf.matmul(a, a), jit_compile=True)
    one = 2 * 3**3
    assert counted(lambda a: inner(inner(a)) + compiled(a), (3, 3)) == 3 * one
    assert (
        counted(lambda a: tf.while_loop(lambda b: True, lambda b: [b @ b], [a], maximum_iterations=5)[0], (3, 3))
        == 5 * one
    )


def test_graphs_that_cannot_be_counted_are_refused():
    with pytest.raises(ValueError, match="not fully known"):
        counted(lambda a: tf.matmul(a, a, transpose_b=True), (None, 3))
    with pytest.raises(ValueError, match="number of rounds is not known"):
        counted(lambda a: tf.while_loop(lambda b: b[0, 0] < 1, lambda b: [b @ b], [a])[0], (3, 3))
    with pytest.raises(ValueError, match="cannot be counted before it runs"):
        counted(lambda a: tf.cond(a[0, 0] < 1, lambda: a @ a, lambda: a), (3, 3))
