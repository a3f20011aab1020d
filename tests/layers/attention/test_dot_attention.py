import math

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.layers.attention.cache import AttentionCache
from bytenet.layers.attention.dot_attention import causal_offsets, dot_attention, padding_offsets
from bytenet.layers.attention.multi_head_attention import MultiHeadAttention

from ..random_weights import random_values, with_random_weights

QUERIES = np.eye(2, dtype="float32")
VALUES = np.array([[1, 2], [3, 4]], "float32")


def test_scaled_example():
    context, weights = dot_attention(QUERIES / math.sqrt(2), QUERIES, VALUES, np.zeros(2, "float32"))
    np.testing.assert_allclose(weights, [[0.669762, 0.330238], [0.330238, 0.669762]], atol=1e-6)
    np.testing.assert_allclose(context, [[1.660477, 2.660477], [2.339523, 3.339523]], atol=1e-6)


def test_first_step_sees_only_itself():
    context, _ = dot_attention(QUERIES / math.sqrt(2), QUERIES, VALUES, causal_offsets(2, "float32"))
    np.testing.assert_allclose(context, [[1, 2], [2.339523, 3.339523]], atol=1e-6)


def test_padding_gets_no_weight_and_a_row_of_padding_stays_finite():
    keys = random_values(2, 3, 4)
    offsets = padding_offsets(np.array([[5, 1, 0], [0, 0, 0]]), "float32")
    context, weights = dot_attention(keys, keys, keys, offsets[:, None])
    weights = convert_to_numpy(weights)
    assert np.all(weights[0, :, 2] == 0)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-6)
    assert np.all(np.isfinite(context))


def test_heads_equal_a_loop_over_heads():
    queries, memory = random_values(2, 3, 6), random_values(2, 5, 6, seed=2)
    offsets = padding_offsets(np.array([[5, 3, 4, 7, 1], [5, 1, 0, 0, 0]]), "float32")
    layer = MultiHeadAttention(heads=2, head_dim=4)
    layer.build(queries.shape)
    w_q, b_q, w_kv, b_kv, w_o, b_o = with_random_weights(layer).get_weights()
    outputs, weights = layer(queries, *layer.keys_and_values(memory), offsets[:, None, None])

    contexts = []
    for head in range(2):
        own = slice(4 * head, 4 * head + 4)
        query = (queries @ w_q + b_q)[..., own]
        key, value = (memory @ w_kv + b_kv)[..., :8][..., own], (memory @ w_kv + b_kv)[..., 8:][..., own]
        scores = query @ key.transpose(0, 2, 1) / 2 + convert_to_numpy(offsets)[:, None]
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(weights[:, head], shares, atol=1e-5)
        contexts.append(shares @ value)
    np.testing.assert_allclose(outputs, np.concatenate(contexts, axis=-1) @ w_o + b_o, atol=1e-4)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_cache_shows_each_hypothesis_its_own_past(beam_size):
    """Against a copy of the whole past of each hypothesis."""
    random = np.random.default_rng(0)
    cache = AttentionCache(num_layers=2, heads=1, head_dim=2, value_dim=2)
    state = cache.empty(2, max_length=7, beam_size=beam_size, dtype="float32")
    past = np.zeros((2, beam_size, 0, 2, 2), "float32")  # (batch, hypothesis, step, layer, channel)
    for position in range(7):
        state, offsets = cache.begin(state, position, "float32")
        present = random.normal(size=(2, beam_size, 1, 2, 2)).astype("float32")
        past = np.concatenate([past, present], axis=2)
        queries = random.normal(size=(2, 1, beam_size, 2)).astype("float32")
        for layer in range(2):
            own = present[:, None, :, 0, layer]  # (batch, heads, beam_size, channel)
            state, keys, values = cache.write(state, layer, position, own, 2 * own)
            context, _ = dot_attention(queries, keys, values, offsets)
            for source in range(2):
                for hypothesis in range(beam_size):
                    seen = past[source, hypothesis, :, layer]
                    expected, _ = dot_attention(queries[source, 0, None, hypothesis], seen, 2 * seen, np.float32(0))
                    np.testing.assert_allclose(context[source, 0, hypothesis], expected[0], atol=1e-5)
        parents = random.integers(0, beam_size, (2, beam_size))
        past = np.take_along_axis(past, parents[..., None, None, None], axis=1)
        rows = parents + beam_size * np.arange(2)[:, None]
        state = cache.select(state, rows.reshape(-1).astype("int32"))
