"""The stock Keras model computes the same function as ByteNet, so their speeds can be compared."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.errors import InputError
from bytenet.models import build_model
from bytenet.profiling.benchmarks.stock_models import make_stock_model
from bytenet.training.losses import SentenceCrossEntropy

SIZES = {"dim": 8, "num_sets": 1, "dilations": (1, 4)}
KINDS = {
    "bytenet": {},
    "simplified": {"variant": "simplified"},
    "selu": {"variant": "selu"},
    "thesis": {"settings": "thesis"},
    "add": {"join": "add", "encoder_kernel_size": 3, "decoder_kernel_size": 2},
    "short": {"unfold_scale": 0.5, "unfold_offset": 0},  # targets are shorter than sources
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(KINDS[name], id=name, marks=() if name in ("bytenet", "thesis", "short") else pytest.mark.thorough)
        for name in KINDS
    ],
)
def models(request):
    """A ByteNet with random weights, and a stock model with the same weights."""
    model = build_model(ByteNetConfig(**(SIZES | request.param)), 11)
    random = np.random.default_rng(0)
    for weight in model.weights:
        if weight.name == "moving_variance":
            weight.assign(random.uniform(0.5, 2.0, weight.shape))
        else:
            weight.assign(random.normal(scale=max(np.prod(weight.shape[:-1]), 4) ** -0.5, size=weight.shape))
    return model, make_stock_model(model)


@pytest.fixture(scope="module")
def batch():
    """Padded sentences of several lengths. One row is filler."""
    random = np.random.default_rng(1)
    sides = []
    for lengths in ([12, 5, 9, 0], [10, 12, 3, 0]):
        ids = random.integers(2, 11, (4, 12)).astype("int32")
        for row, length in zip(ids, lengths, strict=True):
            row[max(length - 1, 0) :] = 0
            row[length - 1 : length] = 1
        sides.append(ids)
    return {"source_ids": tf.constant(sides[0]), "target_ids": tf.constant(sides[1])}


def assert_close(mine, theirs):
    """The difference is at most 1e-4 of the largest number."""
    theirs = keras.ops.convert_to_numpy(theirs)
    scale = np.abs(theirs).max()
    assert scale > 0
    np.testing.assert_allclose(keras.ops.convert_to_numpy(mine), theirs, atol=1e-4 * scale)


def test_stock_model_gives_the_logits_of_bytenet(models, batch):
    real = keras.ops.convert_to_numpy(batch["target_ids"]) != 0
    logits, stock_logits = (keras.ops.convert_to_numpy(tf.function(one)(batch, training=False)) for one in models)
    assert_close(stock_logits[real], logits[real])


def test_training_step_gives_same_logits_gradients_and_statistics(models, batch):
    """Logits, gradients and running statistics."""
    model, stock = models
    target_ids = batch["target_ids"]
    real = tf.cast(target_ids != 0, tf.float32)
    per_character = tf.fill([4], 4 / tf.reduce_sum(real))  # the weights of `training_dataset`
    logits, gradients = train(model, SentenceCrossEntropy(), batch, per_character)
    stock_logits, stock_gradients = train(stock, stock.loss, batch, real)
    assert_close(stock_logits[real == 1], logits[real == 1])
    compared = 0
    for stock_layer, layer in stock.matching_layers(model):
        for stock_weight, weight in zip(stock_layer.weights, layer.weights, strict=True):
            if id(stock_weight) in stock_gradients:
                gradient = tf.reshape(stock_gradients[id(stock_weight)], weight.shape)
                assert_close(gradient, gradients[id(weight)])
                compared += 1
            else:
                assert_close(stock_weight, weight)  # a running statistic after one step
    for name in ("source_embedding", "target_embedding"):
        table = stock_gradients[id(getattr(stock, name).embeddings)]
        assert_close(table[1:], gradients[id(getattr(model, name).table)])
        assert not np.any(table[0])
    assert compared + 2 == len(model.trainable_weights) == len(stock.trainable_weights)


def test_attention_to_the_source_has_no_stock_model():
    model = build_model(ByteNetConfig(**SIZES, source_attention="full", attention_heads=2), 11)
    with pytest.raises(InputError, match=r"source_attention is full, but the stock Keras model has no attention"):
        make_stock_model(model)


def train(model, loss, batch, weights):
    """The logits of a training step, and the dense gradient of its loss for each trainable weight, by id."""

    @tf.function
    def compute():
        with tf.GradientTape() as tape:
            logits = model(batch, training=True)
            value = loss(batch["target_ids"], logits, sample_weight=weights)
        gradients = tape.gradient(value, [variable.value for variable in model.trainable_weights])
        return logits, [tf.convert_to_tensor(gradient) for gradient in gradients]

    logits, gradients = compute()
    return logits, dict(zip(map(id, model.trainable_weights), gradients, strict=True))
