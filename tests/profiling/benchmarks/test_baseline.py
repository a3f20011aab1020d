"""The stock Keras model is the same function as ByteNet, so that their speeds can be compared."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from bytenet.config.families.bytenet import ByteNetConfig
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
}


@pytest.fixture
def models(request):
    """A ByteNet with random weights, and the stock model that took them over."""
    model = build_model(ByteNetConfig(**(SIZES | request.param)), 11)
    random = np.random.default_rng(0)
    for weight in model.weights:
        if weight.name == "moving_variance":
            weight.assign(random.uniform(0.5, 2.0, weight.shape))
        else:
            weight.assign(random.normal(scale=max(np.prod(weight.shape[:-1]), 4) ** -0.5, size=weight.shape))
    yield model, make_stock_model(model)
    keras.backend.clear_session()


@pytest.fixture(scope="module")
def batch():
    """Sentences of several lengths, padded; one row is filler."""
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
    """Equal to 1e-4 of the largest number."""
    theirs = keras.ops.convert_to_numpy(theirs)
    scale = np.abs(theirs).max()
    assert scale > 0
    np.testing.assert_allclose(keras.ops.convert_to_numpy(mine), theirs, atol=1e-4 * scale)


@pytest.mark.parametrize("models", KINDS.values(), ids=KINDS, indirect=True)
def test_logits(models, batch):
    model, stock = models
    real = keras.ops.convert_to_numpy(batch["target_ids"]) != 0
    for training in (False, True):
        theirs = keras.ops.convert_to_numpy(tf.function(model)(batch, training=training))
        mine = keras.ops.convert_to_numpy(tf.function(stock)(batch, training=training))
        assert_close(mine[real], theirs[real])


@pytest.mark.parametrize("models", KINDS.values(), ids=KINDS, indirect=True)
def test_gradients_and_running_statistics(models, batch):
    model, stock = models
    target_ids = batch["target_ids"]
    real = tf.cast(target_ids != 0, tf.float32)
    per_character = tf.fill([4], 4 / tf.reduce_sum(real))  # as `training_dataset` weighs
    their_gradients = gradients(model, SentenceCrossEntropy(), batch, per_character)
    my_gradients = gradients(stock, stock.loss, batch, real)
    compared = 0
    for layer, their_layer in stock.matching_layers(model):
        for weight, other in zip(layer.weights, their_layer.weights, strict=True):
            if id(weight) in my_gradients:
                assert_close(tf.reshape(my_gradients[id(weight)], other.shape), their_gradients[id(other)])
                compared += 1
            else:
                assert_close(weight, other)  # a running statistic, moved by one step
    for name in ("source_embedding", "target_embedding"):
        table = my_gradients[id(getattr(stock, name).embeddings)]
        assert_close(table[1:], their_gradients[id(getattr(model, name).table)])
        assert not np.any(table[0])
    assert compared + 2 == len(model.trainable_weights) == len(stock.trainable_weights)


def gradients(model, loss, batch, weights):
    """By id of a trainable weight, the dense gradient of a training step's loss."""

    @tf.function
    def compute():
        with tf.GradientTape() as tape:
            value = loss(batch["target_ids"], model(batch, training=True), sample_weight=weights)
        return [tf.convert_to_tensor(g) for g in tape.gradient(value, [v.value for v in model.trainable_weights])]

    return dict(zip(map(id, model.trainable_weights), compute(), strict=True))
