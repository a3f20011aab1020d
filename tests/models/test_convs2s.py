"""ConvS2S: properties that single mistakes would break."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.layers import ZeroPaddedEmbedding
from bytenet.models import build_model
from bytenet.private_api import all_layers
from bytenet.training.losses import sentence_cross_entropy

from ..contract.cases import VOCAB_SIZE, draw_sentences, narrow, pad, randomize
from ..contract.traced_model import traced


def random_model(**settings):
    """A model of its own, whose weights a test may change."""
    model = build_model(narrow(ConvS2SConfig, **settings), VOCAB_SIZE)
    randomize(model)
    return model


def test_logits_see_exactly_the_context_without_attention_and_positions():
    """Three layers with kernels of 3, 4 and 2 taps see the last 1 + 2 + 3 + 1 inputs."""
    net = traced(
        narrow(
            ConvS2SConfig, decoder_widths=(8, 8, 8), decoder_kernel_sizes=(3, 4, 2), attention_layers=(),
            target_positions=False,
        )
    )  # fmt: skip
    source, target = draw_sentences([5, 20])
    before = net.logits([source], [target])
    changed = target.copy()
    changed[4] = target[4] % 9 + 2
    difference = np.abs(net.logits([source], [changed]) - before)[0].max(axis=-1)
    # Symbol 4 is the input at position 5.
    assert np.flatnonzero(difference > 1e-7).tolist() == list(range(5, 5 + 7))
    np.testing.assert_array_equal(net.logits([[7, 4, 1]], [target]), before)


def test_each_side_can_have_positions_or_none():
    ids = {"source_ids": pad(draw_sentences([6])), "target_ids": pad(draw_sentences([6], seed=1))}
    for side, other in (("source", "target"), ("target", "source")):
        model = random_model(**{f"{side}_positions": False})
        assert [w.path for w in model.weights if "positions" in w.path] == [f"convs2s/{other}_positions/table"]
        assert model.max_target_length(5000) == 1024
        before = convert_to_numpy(model(ids))
        table = getattr(model, f"{other}_positions").table
        table.assign(convert_to_numpy(table)[::-1])
        assert np.abs(model(ids) - before).max() > 1e-3
    model = random_model(source_positions=False, target_positions=False)
    assert model.max_target_length(5000) == 6024


def test_values_are_keys_plus_embeddings_times_the_root_of_the_real_length():
    model = random_model()
    source_ids = pad(draw_sentences([6, 3, 0]), 9)
    embedded = convert_to_numpy(model.source_positions(model.source_embedding(source_ids)))
    for equations, scale in (("code", 0.5**0.5), ("text", 1.0)):
        model = random_model(equations=equations)
        memory = model.encode(source_ids)
        roots = np.sqrt([6, 3, 1])[:, None, None]
        np.testing.assert_allclose(memory["values"], (memory["keys"] + embedded) * scale * roots, atol=1e-5)


def test_sources_of_padding_alone_and_further_padding_are_harmless():
    net = traced(narrow(ConvS2SConfig))
    source, target = draw_sentences([6, 9])
    alone = net.logits([source], [target])
    np.testing.assert_allclose(net.logits(pad([source], 13), [target]), alone, atol=1e-5)
    assert np.all(np.isfinite(net.logits(np.zeros((2, 5)), [target, target])))
    assert np.all(np.isfinite(net.logits_by_steps(np.zeros((2, 5), int), np.array([target, target]))))


def test_attention_weights_are_those_of_real_source_symbols():
    model = traced(narrow(ConvS2SConfig, attention_layers=(2,))).model
    source_ids, target_ids = pad(draw_sentences([6, 3]), 8), pad(draw_sentences([4, 5], seed=1))
    [weights] = map(convert_to_numpy, model.attention_weights(model.encode(source_ids), target_ids))
    assert weights.shape == (2, 1, 5, 8)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert np.all(weights[0, ..., 6:] == 0)
    assert np.all(weights[1, ..., 3:] == 0)
    assert np.all(weights[0, ..., :6] > 0)
    every = traced(narrow(ConvS2SConfig)).model
    assert len(every.attention_weights(every.encode(source_ids), target_ids)) == 2


def loss_and_gradient(model, ids, weight):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(sentence_cross_entropy(model(ids), ids["target_ids"]))
    return float(loss), tf.convert_to_tensor(tape.gradient(loss, weight.value))


@pytest.mark.parametrize("attention_layers", [(1,), (1, 2)])
def test_gradient_of_the_encoder_is_divided_by_twice_the_number_of_attention_layers(attention_layers):
    model = random_model(attention_layers=attention_layers)
    ids = {"source_ids": pad(draw_sentences([4, 6])), "target_ids": pad(draw_sentences([5, 3], seed=1))}

    def slopes(weight, step=1e-2):
        """The slope of the loss along its gradient, by finite differences and by the gradient."""
        start, losses = convert_to_numpy(weight).copy(), []
        _, gradient = loss_and_gradient(model, ids, weight)
        direction = gradient / np.linalg.norm(gradient)
        for sign in (1, -1):
            weight.assign(start + sign * step * direction)
            losses.append(loss_and_gradient(model, ids, weight)[0])
        weight.assign(start)
        return (losses[0] - losses[1]) / (2 * step), np.sum(gradient * direction)

    # The encoder's output, and so its last bias, is read by attention alone.
    expected, actual = slopes(model.encoder.output_map.bias)
    assert abs(expected) > 0.05
    assert actual * 2 * len(attention_layers) == pytest.approx(expected, rel=2e-2)
    # With a constant output of the encoder, source embeddings reach the loss through the values alone.
    model.encoder.output_map.gain.assign(np.zeros(8))
    expected, actual = slopes(model.source_positions.table)
    assert abs(expected) > 0.05
    assert actual == pytest.approx(expected, rel=2e-2)


def test_lengths_of_directions_have_no_effect_on_logits():
    model = random_model()
    ids = {"source_ids": pad(draw_sentences([6])), "target_ids": pad(draw_sentences([6], seed=1))}
    before = convert_to_numpy(model(ids))
    kernels = [weight for weight in model.weights if weight.name == "kernel"]
    assert len(kernels) == 2 + 2 + 2 + 2 * 3 + 1
    for weight in kernels:
        weight.assign(2 * convert_to_numpy(weight))
    np.testing.assert_allclose(model(ids), before, atol=1e-5)


def test_first_weights_follow_the_dropout_directly_before_them():
    """The standard deviation is √(p / n), and √(4 p / n) before a gate, for n inputs and a kept share p of them."""
    keras.utils.set_random_seed(1)
    widths = {"encoder_widths": (40, 64), "decoder_widths": (40, 64)}
    model = build_model(narrow(ConvS2SConfig, dim=32, output_dim=48, dropout=0.4, **widths), vocab_size=300)
    deviations = {
        weight.path.removeprefix("convs2s/"): convert_to_numpy(weight).std()
        for weight in model.weights
        if weight.name in ("kernel", "table")
    }
    expected = {f"{side}_{part}/table": 0.1 for side in ("source", "target") for part in ("embedding", "positions")}
    for half in ("encoder", "decoder"):
        expected |= {
            f"{half}/input_map/kernel": (0.6 / 32) ** 0.5,
            f"{half}/layer_1/gated_convolution/kernel": (4 * 0.6 / (3 * 40)) ** 0.5,
            f"{half}/layer_2/gated_convolution/kernel": (4 * 0.6 / (3 * 40)) ** 0.5,
            f"{half}/layer_2/residual_map/kernel": (1 / 40) ** 0.5,
            f"{half}/output_map/kernel": (1 / 64) ** 0.5,
        }
    for layer, width in ((1, 40), (2, 64)):
        expected[f"decoder/layer_{layer}/query_map/kernel"] = (1 / width) ** 0.5
        expected[f"decoder/layer_{layer}/context_map/kernel"] = (1 / 32) ** 0.5
    expected["head/kernel"] = (0.6 / 48) ** 0.5
    assert deviations == pytest.approx(expected, rel=0.08)
    assert not any(convert_to_numpy(weight).any() for weight in model.weights if weight.name == "bias")


def test_dropout_hides_embeddings_and_the_input_of_the_head():
    keras.utils.set_random_seed(1)
    model = random_model(dropout=0.99999)
    sources, others = pad(draw_sentences([6, 3])), pad(draw_sentences([6, 3], seed=1))
    keys = [convert_to_numpy(model.encode(ids, training=True)["keys"])[1, :3] for ids in (sources, others)]
    np.testing.assert_array_equal(*keys)
    logits = model({"source_ids": sources, "target_ids": others}, training=True)
    np.testing.assert_allclose(logits, np.broadcast_to(model.head.bias, logits.shape), atol=1e-5)


def test_weights_are_normalized_once_before_the_first_step():
    model = random_model()
    memory = model.encode(pad(draw_sentences([5])))
    state, step = model.initial_state(memory, 8), model.make_step()
    before, _ = step(np.array([3], "int32"), state, memory, 0)
    for weight in model.weights:
        if weight.name in ("kernel", "gain"):
            weight.assign(np.zeros(weight.shape))
    after, _ = step(np.array([3], "int32"), state, memory, 0)
    np.testing.assert_array_equal(after, before)


def test_state_has_a_fixed_size_and_a_ring_for_each_shape_of_kernel():
    sizes = {"decoder_widths": (8, 8, 6, 6, 6, 6), "decoder_kernel_sizes": (3, 3, 4, 3, 3, 1), "attention_layers": (1,)}
    model = random_model(**sizes)
    memory = model.encode(pad(draw_sentences([5, 5])))
    state = model.initial_state(memory, max_length=9, beam_size=3)
    shapes = keras.tree.map_structure(lambda tensor: tuple(tensor.shape), state)
    assert [ring["past"].shape for ring in state] == [(6, 2, 2, 8), (6, 3, 1, 8), (6, 2, 2, 6)]
    longer = model.initial_state(memory, max_length=900, beam_size=3)
    _, after = model.step(np.zeros(6, "int32"), longer, memory, 0)
    assert keras.tree.map_structure(lambda tensor: tuple(tensor.shape), after) == shapes


def test_softmax_and_target_embedding_share_a_table():
    model = random_model(tied_embeddings="softmax")
    assert len([layer for layer in all_layers(model) if isinstance(layer, ZeroPaddedEmbedding)]) == 2
    assert {weight.path for weight in model.weights if weight.shape[-1] == VOCAB_SIZE} == {"convs2s/head/bias"}


def test_sequence_longer_than_the_positions_is_refused():
    model = traced(narrow(ConvS2SConfig, max_positions=10)).model
    assert model.max_target_length(5) == 10
    with pytest.raises(ValueError, match="learned 10 positions"):
        model.encode(pad(draw_sentences([11])))


def test_alignment_is_the_mean_over_the_layers():
    model = random_model()
    memory, previous_ids = model.encode(pad(draw_sentences([5, 3]))), pad(draw_sentences([4, 4]))
    layers = model.attention_weights(memory, previous_ids)
    assert len(layers) > 1
    np.testing.assert_allclose(
        model.alignment(memory, previous_ids), np.mean([layer[:, 0] for layer in layers], axis=0), atol=1e-6
    )
    assert not random_model(attention_layers=()).has_attention
