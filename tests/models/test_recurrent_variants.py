"""Sizes, initial weights, attention and settings of recurrent translators."""

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.models import build_model

from ..contract.cases import CASES as ALL_CASES
from ..contract.cases import VOCAB_SIZE, draw_sentences, narrow, pad, parametrize, randomize
from ..contract.traced_model import traced
from .parameter_counts import unallocated_model

CASES = [case for case in ALL_CASES if case.config.family == "recurrent"]
IS_GLOBAL = {case.name: case.config.window == "global" for case in CASES}


def number_of_weights(vocab_size, **settings) -> int:
    return unallocated_model(RecurrentConfig(**settings), vocab_size).count_params()


SMALL = {"embedding_dim": 3, "dim": 4}
PAPER = {"embedding_dim": 1000, "dim": 1000, "encoder_layers": 4, "decoder_layers": 4}


@pytest.mark.parametrize(
    ("vocab_size", "settings", "number"),
    [
        (100, {"variant": "sutskever"}, 1_890_148),
        (10, {"variant": "sutskever", **SMALL}, 648),
        (100, {"variant": "bahdanau"}, 1_811_044),
        (100, {"variant": "bahdanau", "embedding_dim": 64, "dim": 128, "readout_dim": 64}, 463_204),
        (10, {"variant": "bahdanau", **SMALL, "readout_dim": 2}, 608),
        (100, {"variant": "luong"}, 2_348_900),
        (100, {"variant": "luong", "score": "dot"}, 2_283_364),
        (10, {"variant": "luong", **SMALL, "encoder_layers": 1, "decoder_layers": 1}, 472),
        (10, {"variant": "luong", **SMALL, "encoder_layers": 1, "decoder_layers": 1, "input_feeding": False}, 408),
    ],
)
def test_number_of_weights(vocab_size, settings, number):
    assert number_of_weights(vocab_size, **settings) == number


def test_number_of_weights_in_the_size_of_bahdanau():
    """A hidden layer of 1000 units in the scores, embeddings of 620, a readout of 500, and 30,001 symbols."""
    settings = {"dim": 1000, "embedding_dim": 620, "readout_dim": 500}
    assert number_of_weights(30_001, variant="bahdanau", **settings) == pytest.approx(80.4e6, abs=5e4)


def test_number_of_weights_in_the_size_of_sutskever():
    """The paper counts 64 million recurrent weights and 320 million of its vocabularies, all without biases.

    Its source has 160,000 symbols and its target 80,000. Here both sides have the same symbols, so what one symbol
    takes is counted.
    """
    model = unallocated_model(RecurrentConfig(variant="sutskever", **PAPER), vocab_size=101)
    shapes = {weight.path: tuple(weight.shape) for weight in model.weights}
    recurrent = [np.prod(shape) for path, shape in shapes.items() if "/recurrent_cell/" in path and len(shape) == 2]
    assert sum(recurrent) == 64_000_000
    (_, source), (_, target) = (shapes[f"recurrent/{side}_embedding/table"] for side in ("source", "target"))
    head, _ = shapes["recurrent/head/kernel"]
    assert 160_000 * source + 80_000 * target + 80_000 * head == 320_000_000


def test_number_of_weights_of_a_published_model_for_words():
    """A well-known tutorial's LSTMs: 13,898,501 weights with tables of 7,853 German and 5,893 English words."""
    count = number_of_weights(5_893, variant="sutskever", embedding_dim=256, dim=512)
    # Each of its four cells has a second bias. It has a row for padding in each table, and another source vocabulary.
    assert count + 4 * 4 * 512 + 2 * 256 + (7_853 - 5_893) * 256 == 13_898_501


@parametrize([case for case in CASES if IS_GLOBAL[case.name] and case.config.mask_padding])
def test_each_source_symbol_matters_at_every_target_position(case):
    net = traced(case.config)
    source, target = draw_sentences([6, 5])
    logits = net.logits([source], [target])
    for index in range(5):
        changed = source.copy()
        changed[index] = source[index] % 9 + 2
        difference = np.abs(net.logits([changed], [target]) - logits)[0].max(axis=-1)
        assert np.all(difference > 1e-7), index


@parametrize(CASES)
def test_attention_weights_are_on_real_symbols(case):
    net = traced(case.config)
    sources, previous_ids = pad(draw_sentences([6, 3])), pad(draw_sentences([5, 4]))
    weights = net.model.attention_weights(net.encode(sources), previous_ids)
    if case.config.decoder in ("sutskever", "cho"):
        assert weights == []
        return
    (weights,) = weights
    assert weights.shape == (2, 1, 5, 6)
    np.testing.assert_allclose(convert_to_numpy(weights).sum(axis=-1), 1.0, atol=1e-5)
    assert np.all(convert_to_numpy(weights) >= 0)
    if case.config.mask_padding:
        np.testing.assert_array_equal(weights[1, ..., 3:], np.zeros((1, 5, 3)))
    assert np.abs(weights[0] - weights[1]).max() > 1e-3


def test_attention_of_a_reversed_source_is_in_the_order_of_the_source():
    """With dot scores of a narrow window, the attended symbol can be seen."""
    config = narrow(RecurrentConfig, variant="luong", window="monotonic", window_radius=1, score="dot")
    net, source = traced(config), draw_sentences([6])
    (weights,) = net.model.attention_weights(net.encode(source), np.zeros((1, 4), "int32"))
    is_attended = convert_to_numpy(weights)[0, 0] > 0
    expected = np.abs(np.arange(6) - np.arange(4)[:, None]) <= 1
    np.testing.assert_array_equal(is_attended, expected)


@pytest.mark.parametrize("variant", ["sutskever", "luong", "bahdanau", "cho"])
def test_reversed_source_equals_forward_model_with_reversed_ids(variant):
    settings = {"directions": "forward"} if variant == "bahdanau" else {}
    forward, reverse = (
        traced(narrow(RecurrentConfig, variant=variant, **settings, reverse_source=reverse))
        for reverse in (False, True)
    )
    sources, reversed_sources = [[3, 4, 5, 6, 1], [7, 8, 1]], [[6, 5, 4, 3, 1], [8, 7, 1]]
    targets = pad(draw_sentences([4, 5]))
    logits = reverse.logits(pad(sources), targets)
    np.testing.assert_allclose(logits, forward.logits(pad(reversed_sources), targets), atol=1e-5)
    assert np.abs(logits - forward.logits(pad(sources), targets)).max() > 1e-3
    palindrome = [[3, 4, 3, 1]]
    np.testing.assert_allclose(
        reverse.logits(palindrome, targets[:1]), forward.logits(palindrome, targets[:1]), atol=1e-5
    )


@pytest.mark.parametrize("variant", ["bahdanau", "cho"])
def test_readout_of_the_previous_state_does_not_depend_on_the_update(variant):
    source, target = (np.array([ids]) for ids in draw_sentences([5, 4]))
    for readout_state in ("previous", "current"):
        model = build_model(narrow(RecurrentConfig, variant=variant, readout_state=readout_state), VOCAB_SIZE)
        randomize(model)
        before = model({"source_ids": source, "target_ids": target})
        model.decoder.cell.recurrent_kernel.assign(-model.decoder.cell.recurrent_kernel)
        changes = np.abs(model({"source_ids": source, "target_ids": target}) - before)[0].max(axis=-1)
        assert (changes[0] > 1e-3) == (readout_state == "current")
        assert np.all(changes[1:] > 1e-3)


@pytest.mark.parametrize("variant", ["sutskever", "luong", "bahdanau", "cho", "madsen"])
def test_dropout_hides_embeddings_and_the_input_of_the_head(variant):
    keras.utils.set_random_seed(1)
    model = build_model(narrow(RecurrentConfig, variant=variant, dropout=0.99999), VOCAB_SIZE)
    randomize(model)
    sources, others = pad(draw_sentences([6, 3])), pad(draw_sentences([6, 3], seed=1))
    memories = [keras.tree.flatten(model.encode(ids, training=True)) for ids in (sources, others)]
    for one, other in zip(*memories, strict=True):
        np.testing.assert_array_equal(one, other)
    logits = model({"source_ids": sources, "target_ids": others}, training=True)
    np.testing.assert_allclose(logits, np.broadcast_to(model.head.bias, logits.shape), atol=1e-5)


@pytest.mark.parametrize(("variant", "bound"), [("sutskever", 0.08), ("luong", 0.1)])
def test_first_weights_of_the_papers_are_uniform(variant, bound):
    model = build_model(RecurrentConfig(variant=variant, initializer="paper", dim=32, embedding_dim=32), VOCAB_SIZE)
    for weight in model.weights:
        largest = np.abs(convert_to_numpy(weight)).max()
        assert largest == 0 if "bias" in weight.path else 0.9 * bound < largest <= bound, weight.path


def test_first_weights_of_bahdanau_are_those_of_the_paper():
    model = build_model(RecurrentConfig(variant="bahdanau", initializer="paper", dim=64), VOCAB_SIZE)
    for weight in model.weights:
        values = convert_to_numpy(weight)
        if "recurrent_kernel" in weight.path:
            np.testing.assert_allclose(values[:, :64] @ values[:, :64].T, np.eye(64), atol=1e-4)
        elif "bias" in weight.path or "vector" in weight.path:
            assert not values.any()
        else:
            assert values.std() == pytest.approx(0.001 if "alignment" in weight.path else 0.01, rel=0.1), weight.path


def test_first_attention_of_bahdanau_is_the_same_for_all_symbols():
    """The vector of the scores is zero at first, whatever the other weights are."""
    model = build_model(narrow(RecurrentConfig, variant="bahdanau", initializer="paper"), VOCAB_SIZE)
    [vector] = [weight for weight in model.weights if weight.name == "vector"]
    first = convert_to_numpy(vector)
    randomize(model)
    vector.assign(first)
    (weights,) = model.attention_weights(model.encode(pad(draw_sentences([6, 3]))), pad(draw_sentences([4, 5])))
    np.testing.assert_allclose(weights[0, 0], np.full((5, 6), 1 / 6), atol=1e-6)
    np.testing.assert_allclose(weights[1, 0], [[1 / 3] * 3 + [0] * 3] * 5, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mask_padding": False}, "mask_padding is False, which only the decoder 'madsen' can have"),
        ({"head": "bounded"}, "head is 'bounded', which only the decoder 'madsen' can have"),
        ({"initializer": "thesis_code"}, "'thesis_code', which only the decoder 'madsen' can have"),
        (
            {"variant": "madsen", "directions": "forward"},
            "directions is 'forward', but the decoder 'madsen' needs 'both'",
        ),
        ({"variant": "madsen", "embedding_dim": 7}, "embedding_dim is 7, but the decoder 'madsen' needs 20"),
        ({"variant": "madsen", "initializer": "paper"}, "should be 'auto' or 'thesis_code' for the decoder 'madsen'"),
        ({"initializer": "identity"}, "initializer 'identity' needs cells 'rnn' and cell_activation 'relu'"),
        ({"variant": "bahdanau", "decoder_layers": 2}, "decoder_layers is 2, but the decoder 'bahdanau' has 1"),
        ({"encoder_layers": 3}, "the decoder 'luong' begins with the encoder's states"),
        ({"variant": "sutskever", "encoder_cell": "gru"}, "the decoder 'sutskever' begins with the encoder's states"),
        ({"encoder_dim": 100}, "encoder_dim times the number of directions should be dim"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        RecurrentConfig(**settings)


def test_settings_of_the_thesis_are_those_of_its_baseline():
    config = RecurrentConfig(settings="thesis")
    assert (config.variant, config.head, config.mask_padding) == ("madsen_bounded", "bounded", False)


def test_location_scores_limit_the_length_of_sources():
    assert RecurrentConfig(score="location", max_positions=50).length_policy.longest == 50
    assert RecurrentConfig(max_positions=50).length_policy.longest is None
