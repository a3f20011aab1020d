import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras.ops import convert_to_numpy

from bytenet.layers.attention.dot_attention import dot_attention
from bytenet.layers.attention.source_window import SourceWindow

LENGTHS = np.array([9, 3, 0], "int32")


def seen(window, target_length=6, source_length=10):
    """Which symbols each step of the first source and of the second may attend to."""
    offsets = convert_to_numpy(window.offsets(target_length, source_length, LENGTHS, "float32"))
    return [[np.flatnonzero(step == 0).tolist() for step in sentence[0]] for sentence in offsets]


def test_window_moves_with_the_step_and_stops_at_the_last_symbol():
    long, short, empty = seen(SourceWindow(radius=1))
    assert long == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6]]
    assert short == [[0, 1], [0, 1, 2], [1, 2], [1, 2], [1, 2], [1, 2]]
    assert empty == [[0]] * 6  # padding, which fills a batch


def test_slope_moves_the_centre_faster_or_slower():
    assert seen(SourceWindow(radius=0, slope=1.5))[0] == [[0], [2], [3], [5], [6], [8]]
    assert seen(SourceWindow(radius=0, slope=0.4))[0] == [[0], [0], [1], [1], [2], [2]]


def test_whole_source_has_the_same_offsets_at_all_steps():
    assert seen(SourceWindow())[:2] == [[[*range(9)]], [[0, 1, 2]]]


@pytest.mark.parametrize("radius", [0, 2, 20, None])
def test_cut_has_the_symbols_that_the_offsets_show(radius):
    window = SourceWindow(radius, slope=1.3)
    # Keys and values are their own places: 100 * sentence + 10 * head + symbol.
    places = 100 * np.arange(3)[:, None, None, None] + 10 * np.arange(2)[:, None, None] + np.arange(10)[:, None]
    places = places.astype("float32")
    for step in range(6):
        keys, values, offsets = map(convert_to_numpy, window.cut(step, places, -places, LENGTHS))
        np.testing.assert_array_equal(values, -keys)
        assert keys.shape == (3, 2, 10 if radius is None else 2 * radius + 1, 1)
        for sentence, symbols in enumerate(seen(window)):
            is_seen = offsets[sentence, 0, 0] == 0
            for head in (0, 1):
                expected = [100 * sentence + 10 * head + symbol for symbol in symbols[0 if radius is None else step]]
                assert keys[sentence, head, is_seen, 0].tolist() == expected


@settings(max_examples=30, deadline=None)
@given(
    radius=st.sampled_from([0, 1, 2, 20, None]), slope=st.sampled_from([0.4, 1.0, 1.3]),
    lengths=st.tuples(st.integers(0, 7), st.integers(0, 7)), step=st.integers(0, 9),
)  # fmt: skip
def test_attention_of_a_step_is_that_of_the_call_for_any_length(radius, slope, lengths, step):
    window, lengths = SourceWindow(radius, slope), np.array(lengths, "int32")
    queries, keys, values = np.random.default_rng(0).normal(size=(3, 2, 1, 7, 4)).astype("float32")
    queries = queries[:, :, :1]
    context, _ = dot_attention(queries, *window.cut(step, keys, values, lengths))
    offsets = convert_to_numpy(window.offsets(step + 1, 7, lengths, "float32"))[:, :, -1:]
    expected, _ = dot_attention(queries, keys, values, offsets)
    np.testing.assert_allclose(context, expected, atol=1e-5)
