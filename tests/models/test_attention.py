"""The attention baseline: equal to the thesis's equations, step by step as at once, whatever the padding."""

from functools import cache

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.config.families.attention import AttentionConfig
from bytenet.decoding import Decoder
from bytenet.models import AttentionModel, build_model
from bytenet.training.losses import sentence_cross_entropy

NARROW = {"dim": 6}
KINDS = {
    "dense": {"variant": "dense"},
    "bounded": {"variant": "bounded"},
    "dense-thesis": {"variant": "dense", "settings": "thesis"},
    "bounded-thesis": {"variant": "bounded", "settings": "thesis"},
    "one-layer": {"variant": "dense", "num_layers": 1},
}
every_kind = pytest.mark.parametrize("kind", KINDS)
masked_kind = pytest.mark.parametrize("kind", ["dense", "bounded"])
LENGTH = st.integers(1, 14)


def make_model(kind: str, vocab_size: int = 11, dtype: str | None = None, **overrides) -> AttentionModel:
    """A narrow model with random weights everywhere, no bias zero."""
    config = AttentionConfig(**(NARROW | KINDS[kind] | overrides))
    model = AttentionModel(config, vocab_size, dtype=dtype)
    model.build({"source_ids": (None, None), "target_ids": (None, None)})
    random = np.random.default_rng(0)
    for weight in model.weights:
        scale = 0.5 if weight.name in ("bias", "table") else 1.5 * weight.shape[0] ** -0.5
        weight.assign(random.normal(scale=scale, size=tuple(weight.shape)))
    return model


class Traced:
    """A model whose methods are traced once for all lengths."""

    def __init__(self, model: AttentionModel):
        self.model = model
        ids = tf.TensorSpec((None, None), tf.int32)
        row, position = tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.int32)
        self._call = tf.function(model, input_signature=[{"source_ids": ids, "target_ids": ids}])
        self.encode = tf.function(model.encode, input_signature=[ids])
        memory = self.encode.get_concrete_function().structured_outputs
        memory = {name: tf.TensorSpec((None, None, *spec.shape[2:]), spec.dtype) for name, spec in memory.items()}
        state = model.initial_state(model.encode(tf.ones((1, 1), tf.int32)), 1)
        state = {name: tf.TensorSpec((None, tensor.shape[1]), tensor.dtype) for name, tensor in state.items()}
        self.step = tf.function(model.step, input_signature=[row, state, memory, position])

    def logits(self, source_ids, target_ids) -> np.ndarray:
        ids = {"source_ids": tf.constant(source_ids, tf.int32), "target_ids": tf.constant(target_ids, tf.int32)}
        return convert_to_numpy(self._call(ids))


@cache
def traced(kind: str) -> Traced:
    return Traced(make_model(kind))


class Reference:
    """One sentence pair at a time, in double precision, written from the equations."""

    def __init__(self, model: AttentionModel):
        self.weights = {
            weight.path.split("/", 1)[1]: convert_to_numpy(weight).astype("float64") for weight in model.weights
        }
        self.config = model.get_config()

    def logits(self, source_ids, target_ids):
        width = 2 * self.config["dim"]
        encoded = self.encode(source_ids)
        keys = encoded @ self.weights["decoder/cell/attention_keys/kernel"]
        lower, upper, attention = np.zeros((3, width))
        output, all_logits = np.zeros(self.config["vocab_size"]), []
        for previous_id in [0, *target_ids[:-1]]:
            lower = self.gru("decoder/cell/lower_gru", self.embed("target_embedding", previous_id), lower)
            upper = self.gru("decoder/cell/upper_gru", np.concatenate([lower, attention]), upper)
            weights = np.exp(keys @ upper)
            context = weights / weights.sum() @ encoded
            attention = np.concatenate([upper, context]) @ self.weights["decoder/cell/attention_vector/kernel"]
            if self.config["head"] == "bounded":
                output = self.gru("head/cell", attention, output)
            else:
                output = attention @ self.weights["head/kernel"] + self.weights["head/bias"]
            all_logits.append(output)
        return np.array(all_logits)

    def encode(self, source_ids):
        """The source is read from either end by stacks of h = tanh(W x + U h + b)."""
        sides = []
        for direction, order in (("forward", 1), ("backward", -1)):
            x = np.array([self.embed("source_embedding", id_) for id_ in source_ids])[::order]
            for layer in range(self.config["num_layers"]):
                stack = f"encoder/{direction}" + ("/layers" if self.config["num_layers"] > 1 else "")
                path, hidden, outputs = f"{stack}/layer_{layer}", np.zeros(x.shape[1]), []
                for step in x:
                    hidden = step @ self.weights[f"{path}/kernel"] + hidden @ self.weights[f"{path}/recurrent_kernel"]
                    hidden = np.tanh(hidden + self.weights[f"{path}/bias"])
                    outputs.append(hidden)
                x = np.array(outputs)
            sides.append(x[::order])
        return np.concatenate(sides, axis=1)

    def embed(self, name, id_):
        table = self.weights[f"{name}/table"]
        return table[id_ - 1] if id_ else np.zeros(table.shape[1])

    def gru(self, name, x, state):
        """h ← z h + (1 - z) tanh(W x + U (r h)), with the reset before the product."""
        wz, wr, wh = np.split(self.weights[f"{name}/kernel"], 3, axis=1)
        uz, ur, uh = np.split(self.weights[f"{name}/recurrent_kernel"], 3, axis=1)
        bz, br, bh = np.split(self.weights[f"{name}/bias"], 3)
        z = 1 / (1 + np.exp(-(x @ wz + state @ uz + bz)))
        r = 1 / (1 + np.exp(-(x @ wr + state @ ur + br)))
        return z * state + (1 - z) * np.tanh(x @ wh + (r * state) @ uh + bh)


@every_kind
@pytest.mark.parametrize(("source_length", "target_length"), [(9, 12), (6, 1), (1, 7)])
def test_equals_the_network_in_numpy(random_sentences, kind, source_length, target_length):
    net = traced(kind)
    source, target = random_sentences([source_length, target_length])
    expected = Reference(net.model).logits(source, target)
    assert np.std(expected) > 0.1
    np.testing.assert_allclose(net.logits([source], [target])[0], expected, atol=1e-5)


@every_kind
def test_equals_the_network_in_numpy_with_padding(random_sentences, padded, kind):
    """With masks, as if there were none; without, as if padding were characters."""
    net = traced(kind)
    source, target = random_sentences([5, 8])
    read = source if net.model.config.mask_padding else [*source, 0, 0, 0]
    logits = net.logits(padded([source], 8), padded([target], 10))[0]
    np.testing.assert_allclose(logits[:8], Reference(net.model).logits(read, target), atol=1e-5)


def gradients(model, source_ids, target_ids, jit_compile):
    """Losses of sentences, and gradients of their sum, traced for any shape."""
    ids = tf.TensorSpec((None, None), tf.int32)

    @tf.function(input_signature=[ids, ids], jit_compile=jit_compile)
    def compute(source_ids, target_ids):
        with tf.GradientTape() as tape:
            logits = model({"source_ids": source_ids, "target_ids": target_ids}, training=True)
            losses = sentence_cross_entropy(logits, target_ids)
            loss = tf.reduce_sum(losses)
        found = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
        return losses, [tf.convert_to_tensor(gradient) for gradient in found]

    return compute(tf.constant(source_ids), tf.constant(target_ids))


@pytest.mark.parametrize("kind", ["dense", "bounded-thesis"])
def test_gradients_are_the_same_compiled_in_a_wider_bucket_and_beside_rows_that_fill_it_up(
    random_sentences, padded, kind
):
    model = traced(kind).model
    sources, targets = random_sentences([7, 3, 5], seed=1), random_sentences([6, 7, 2], seed=2)
    losses, expected = gradients(model, padded(sources), padded(targets), jit_compile=False)
    compiled_losses, compiled = gradients(model, padded(sources), padded(targets), jit_compile=True)
    np.testing.assert_allclose(compiled_losses, losses, rtol=1e-5)
    found = [compiled]
    if model.config.mask_padding:
        wide = padded([*sources, [], []], 12), padded([*targets, [], []], 12)
        found.append(gradients(model, *wide, jit_compile=True)[1])
    for each in found:
        for gradient, weight in zip(each, expected, strict=True):
            assert np.abs(weight).max() > 1e-4
            np.testing.assert_allclose(gradient, weight, atol=1e-4 * np.abs(weight).max())


def test_bounded_logits_cap_what_can_be_learned(random_sentences):
    """e / (e + (V - 1) / e) at most: .215 for the 28 symbols of the thesis's digits, 1.54 nats at least."""
    model = make_model("bounded", vocab_size=28)
    for weight in model.weights:
        weight.assign(100.0 * weight)  # as sure as it can be
    source, target = random_sentences([9, 50])
    logits = model({"source_ids": np.array([source], "int32"), "target_ids": np.array([target], "int32")})
    assert np.abs(logits).max() == pytest.approx(1.0, abs=1e-3)
    assert np.abs(logits).max() <= 1.0
    cap = np.e / (np.e + 27 / np.e)
    assert cap == pytest.approx(0.215, abs=5e-4)
    assert -np.log(cap) == pytest.approx(1.54, abs=5e-3)
    assert convert_to_numpy(keras.ops.softmax(logits)).max() <= cap + 1e-6


# d = 20, V = 28: two tables, six RNNs, keys, two GRUs, map of the attention; and the head.
@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ("dense", 1080 + 4920 + 1600 + 7320 + 14520 + 3200 + 41 * 28),
        ("bounded", 1080 + 4920 + 1600 + 7320 + 14520 + 3200 + 69 * 84),
    ],
)
def test_number_of_weights(kind, weights):
    assert build_model(AttentionConfig(variant=kind), 28).count_params() == weights


def test_dropout_is_for_training_only(random_sentences):
    model = make_model("dense", dropout=0.5)
    inputs = {name: np.array(random_sentences([8], seed=1), "int32") for name in ("source_ids", "target_ids")}
    np.testing.assert_array_equal(model(inputs), make_model("dense")(inputs))
    assert not np.allclose(model(inputs, training=True), model(inputs))


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_searches_find_the_log_probabilities_of_the_whole_forward_pass(padded, beam_size, jit_compile):
    net = traced("dense")
    sources = padded([[3, 2, 4, 1], [4, 4, 1], [2, 3, 3, 2, 4, 1]])
    result = Decoder(net.model, beam_size, n_best=beam_size, jit_compile=jit_compile)(sources, max_length=12)
    for row, source in enumerate(sources):
        lengths = result.lengths[row].numpy()
        for ids, length, found in zip(result.ids[row].numpy(), lengths, result.log_probabilities[row], strict=True):
            logits = net.logits([source], [ids[:length]])[0].astype("float64")
            chosen = logits[np.arange(length), ids[:length]] - np.log(np.exp(logits).sum(axis=-1))
            assert float(found) == pytest.approx(chosen.sum(), abs=1e-4)


@pytest.mark.parametrize("kind", ["dense", "bounded"])
def test_first_weights_of_the_thesis_s_code(kind):
    model = build_model(AttentionConfig(variant=kind, initializer="thesis_code"), 28)
    by_path = {weight.path: convert_to_numpy(weight) for weight in model.trainable_weights}
    grus = [path.rpartition("/")[0] for path in by_path if path.endswith("gru/bias") or "head/cell/bias" in path]
    assert len(grus) == (3 if kind == "bounded" else 2)
    for path in grus:
        kernel, recurrent, bias = (by_path[f"{path}/{name}"] for name in ("kernel", "recurrent_kernel", "bias"))
        units = recurrent.shape[0]
        np.testing.assert_array_equal(bias, [1] * 2 * units + [0] * units)
        rows = kernel.shape[0] + units
        for matrix in (kernel, recurrent):
            gates, candidate = np.abs(matrix[:, : 2 * units]).max(), np.abs(matrix[:, 2 * units :]).max()
            assert 0.9 * (6 / (rows + 2 * units)) ** 0.5 < gates <= (6 / (rows + 2 * units)) ** 0.5
            assert 0.9 * (6 / (rows + units)) ** 0.5 < candidate <= (6 / (rows + units)) ** 0.5
    again = type(model).from_config(model.get_config())
    assert again.get_config() == model.get_config()
