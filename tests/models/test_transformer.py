"""The Transformer: published numbers of weights, and properties that single mistakes would break."""

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config.families.transformer import TransformerConfig
from bytenet.layers import ZeroPaddedEmbedding
from bytenet.layers.attention.dot_attention import causal_offsets
from bytenet.layers.attention.stack import AttentionStack
from bytenet.models import build_model
from bytenet.private_api import all_layers

from ..contract.cases import VOCAB_SIZE, draw_sentences, narrow, pad, randomize
from ..contract.traced_model import traced
from .parameter_counts import unallocated_model

POST = {"normalization_order": "post"}


@pytest.mark.parametrize(("tied", "expected"), [("none", 1_889_636), ("all", 1_864_164)])
def test_weights_of_the_small_model(tied, expected):
    model = unallocated_model(TransformerConfig(tied_embeddings=tied, **POST), vocab_size=100)
    assert model.count_params() == expected
    # With "pre", each stack has a normalisation on top.
    model = unallocated_model(TransformerConfig(tied_embeddings=tied), vocab_size=100)
    assert model.count_params() == expected + 4 * 128


@pytest.mark.parametrize(
    ("settings", "encoder_layer", "decoder_layer"),
    [
        ({}, 198_272, 264_576),
        ({"dim": 4, "feed_forward_dim": 8, "heads": 2}, 172, 260),
    ],
)
def test_weights_of_a_layer(settings, encoder_layer, decoder_layer):
    model = unallocated_model(TransformerConfig(**settings), vocab_size=10)
    assert model.encoder.blocks[0].count_params() == encoder_layer
    assert model.decoder.blocks[0].count_params() == decoder_layer


def test_small_example_has_554_weights_with_own_tables_and_478_with_one():
    sizes = {"dim": 4, "feed_forward_dim": 8, "heads": 2, "encoder_layers": 1, "decoder_layers": 1} | POST
    for tied, expected in (("none", 554), ("all", 478)):
        assert unallocated_model(TransformerConfig(tied_embeddings=tied, **sizes), 10).count_params() == expected


def test_weights_of_the_paper():
    base = unallocated_model(TransformerConfig(variant="base"), vocab_size=37_000)
    assert base.encoder.count_params() + base.decoder.count_params() == 44_138_496
    big = unallocated_model(TransformerConfig(variant="big"), vocab_size=37_000)
    # The paper prints 65 and 213 million. Its tables also have a row for padding, and its head has no offsets.
    assert round(base.count_params() / 1e6, 1) == 63.1
    assert round((big.count_params() - 37_000 + 1024) / 1e6, 1) == 214.2


@pytest.mark.parametrize(
    ("settings", "millions"),
    [
        ({}, 65),
        ({"head_dim": 16, "value_dim": 64}, 58),
        ({"head_dim": 32, "value_dim": 64}, 60),
        ({"encoder_layers": 2, "decoder_layers": 2}, 36),
        ({"encoder_layers": 4, "decoder_layers": 4}, 50),
        ({"encoder_layers": 8, "decoder_layers": 8}, 80),
        ({"dim": 256, "head_dim": 32}, 28),
        ({"dim": 1024, "head_dim": 128}, 168),
        ({"feed_forward_dim": 1024}, 53),
        ({"feed_forward_dim": 4096}, 90),
    ],
)
def test_weights_in_the_table_of_variations_of_the_paper(settings, millions):
    """With 41,000 symbols, which is our inference, all of these rows come out. Section 5.1 names about 37,000."""
    model = unallocated_model(TransformerConfig(variant="base", **settings), vocab_size=41_000)
    assert round(model.count_params() / 1e6) == millions


def test_weights_of_a_published_model_for_words():
    """A well-known tutorial's model: 9,038,341 weights with tables of 7,853 German and 5,893 English words."""
    config = TransformerConfig(
        dim=256, feed_forward_dim=512, heads=8, encoder_layers=3, decoder_layers=3, positions="learned",
        max_positions=100, tied_embeddings="none", **POST,
    )  # fmt: skip
    model = unallocated_model(config, vocab_size=5_893)
    # It has a row for padding in each table, and its source has another vocabulary.
    assert model.count_params() + 2 * 256 + (7_853 - 5_893) * 256 == 9_038_341


def test_one_table_serves_source_target_and_softmax():
    model = build_model(narrow(TransformerConfig, tied_embeddings="all"), VOCAB_SIZE)
    tables = [layer for layer in all_layers(model) if isinstance(layer, ZeroPaddedEmbedding)]
    assert len(tables) == 1
    paths = [weight.path for weight in model.weights if VOCAB_SIZE - 1 in weight.shape]
    assert paths == ["transformer/embedding/table"]


def test_trained_offset_is_the_logit_of_padding_in_a_tied_softmax():
    """The embedding of padding is zero, so only the offset can make padding unlikely."""
    model = build_model(narrow(TransformerConfig), VOCAB_SIZE)
    inputs = {"source_ids": pad(draw_sentences([5, 3])), "target_ids": pad(draw_sentences([4, 6], seed=1))}
    model(inputs)
    randomize(model)
    offset = model.head.bias
    assert any(weight is offset for weight in model.trainable_weights)
    offset.assign(np.linspace(-3, 3, VOCAB_SIZE))
    logits = convert_to_numpy(model(inputs))
    np.testing.assert_allclose(logits[..., 0], -3, rtol=1e-6)
    assert np.ptp(logits[..., 1]) > 0.1


def test_gain_of_the_last_normalization_scales_the_stack():
    stack = AttentionStack(1, "post", heads=2, head_dim=4, feed_forward_dim=8, dtype="float32", name="stack")
    stack.build((None, None, 8))
    inputs = np.random.default_rng(0).normal(size=(2, 5, 8)).astype("float32")
    before, _ = stack(inputs, causal_offsets(5, "float32"))
    normalization = stack.blocks[0].norms["feed_forward"]
    normalization.gamma.assign(2 * np.ones(8))
    after, _ = stack(inputs, causal_offsets(5, "float32"))
    np.testing.assert_allclose(after, 2 * before, atol=1e-5)


def test_order_of_the_source_matters_only_by_its_positions():
    source, target = draw_sentences([7, 6])
    swapped = [source[1], source[0], *source[2:]]
    assert source != swapped
    net = traced(narrow(TransformerConfig))
    assert np.abs(net.logits([source], [target]) - net.logits([swapped], [target])).max() > 1e-3
    model = build_model(narrow(TransformerConfig, positions="learned"), VOCAB_SIZE)
    randomize(model)
    model.source_positions.table.assign(np.zeros(model.source_positions.table.shape))
    logits = [model({"source_ids": np.array([ids]), "target_ids": np.array([target])}) for ids in (source, swapped)]
    np.testing.assert_allclose(*logits, atol=1e-5)


def test_slots_of_the_cache_that_are_not_written_do_not_matter():
    net = traced(narrow(TransformerConfig))
    memory = net.encode([[5, 3, 1]])
    state = net.model.initial_state(memory, 8)
    filled = keras.tree.map_structure(lambda tensor: tensor + 10.0, state)
    for position, previous_id in enumerate([0, 4, 7, 3]):
        logits, state = net.step([previous_id], state, memory, position)
        other, filled = net.step([previous_id], filled, memory, position)
        np.testing.assert_allclose(other, logits, atol=1e-6)


def test_sequence_longer_than_the_learned_positions_is_refused():
    model = traced(narrow(TransformerConfig, positions="learned", max_positions=10)).model
    assert model.max_target_length(5) == 10
    with pytest.raises(ValueError, match="learned 10 positions"):
        model.encode(pad(draw_sentences([11])))


def test_alignment_is_the_mean_over_the_heads_of_the_last_layer():
    model = traced(narrow(TransformerConfig)).model
    memory, previous_ids = model.encode(pad(draw_sentences([5, 3]))), pad(draw_sentences([4, 4]))
    first, last = (np.mean(layer, axis=1) for layer in model.attention_weights(memory, previous_ids))
    np.testing.assert_allclose(model.alignment(memory, previous_ids), last, atol=1e-6)
    assert np.abs(first - last).max() > 1e-2


@pytest.mark.parametrize("tied", ["all", "none"])
def test_first_embeddings_have_variance_1_and_first_logits_are_small(tied):
    """Embeddings are multiplied by √d. With a tied softmax, logits are products of normalised outputs with them."""
    keras.utils.set_random_seed(1)
    model = build_model(TransformerConfig(positions="learned", tied_embeddings=tied), vocab_size=300)
    scaled = {
        weight.path: convert_to_numpy(weight).std() * 128**0.5 for weight in model.weights if weight.name == "table"
    }
    assert len(scaled) == (3 if tied == "all" else 4)
    assert [*scaled.values()] == pytest.approx([1.0] * len(scaled), rel=0.03)
    logits = model({"source_ids": np.arange(2, 22)[None], "target_ids": np.arange(30, 50)[None]})
    assert 0.3 < convert_to_numpy(logits)[..., 1:].std() < 2


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="dim 10 cannot be divided into 4 heads"):
        TransformerConfig(dim=10)
    assert TransformerConfig(dim=10, head_dim=3).width_of_head == 3


def test_dropout_hides_embeddings_with_their_positions():
    keras.utils.set_random_seed(1)
    model = build_model(narrow(TransformerConfig, dropout=0.99999), VOCAB_SIZE)
    randomize(model)
    ids = pad(draw_sentences([6, 3])), pad(draw_sentences([6, 3], seed=1))
    (keys,) = model.encode(ids[0], training=True)["keys"][:1]
    np.testing.assert_allclose(keys, np.broadcast_to(keys[:1, :, :1], keys.shape), atol=1e-5)
    logits = convert_to_numpy(model({"source_ids": ids[0], "target_ids": ids[1]}, training=True))
    np.testing.assert_allclose(logits, np.broadcast_to(logits[:1, :1], logits.shape), atol=1e-5)


@pytest.mark.parametrize("name", ["attention_dropout", "activation_dropout"])
def test_dropout_inside_of_layers_works_only_in_training(name):
    model = build_model(narrow(TransformerConfig, **{name: 0.5}), VOCAB_SIZE)
    randomize(model)
    inputs = {"source_ids": pad(draw_sentences([5], seed=1)), "target_ids": pad(draw_sentences([6], seed=2))}
    expected = traced(narrow(TransformerConfig)).logits(**inputs)
    np.testing.assert_allclose(model(inputs), expected, atol=1e-5)
    first, second = model(inputs, training=True), model(inputs, training=True)
    for one, other in ((first, expected), (first, second)):
        assert np.abs(one - other).max() > 1e-3
