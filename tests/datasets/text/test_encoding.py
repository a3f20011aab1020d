"""Encoding a whole corpus gives each text the same ids as the vocabulary and the graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.datasets.text import encoding
from bytenet.datasets.text.characters import character_counts
from bytenet.datasets.text.encoding import encode_texts
from bytenet.datasets.text.graph_encoding import encode_graph
from bytenet.datasets.text.normalisation import normalise
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import InputError

# Some marks are reordered or composed. Some would be composed across the border of two joined texts.
texts = st.lists(
    st.text(st.sampled_from("abuo\u0308\u0323\u00fc\uac00\u1100\u1161\0\n\u2028\U0001f600"), max_size=8), max_size=7
)


@given(texts, texts, st.sampled_from(["symbol", "drop"]))
def test_each_text_is_encoded_as_if_it_were_alone(known, lines, unknown):
    vocabulary = Vocabulary.from_texts(known, unknown=unknown)
    encoded = encode_texts(lines, vocabulary)
    expected = [vocabulary.encode(line) for line in lines]
    assert encoded.lengths.tolist() == [len(ids) for ids in expected]
    for number, ids in enumerate(expected):
        assert encoded.ids[encoded.starts[number] : encoded.starts[number + 1]].tolist() == ids.tolist()


@settings(max_examples=20, deadline=None)
@given(texts.filter(bool), texts.filter(bool))
def test_each_text_gets_the_same_ids_as_in_the_graph(known, lines):
    vocabulary = Vocabulary.from_texts(known)
    in_graph = encode_graph(vocabulary, [line.encode() for line in lines]).numpy()
    assert encode_texts(lines, vocabulary).ids.tolist() == in_graph[in_graph != 0].tolist()


def test_encoding_in_parts_equals_encoding_at_once(monkeypatch):
    lines = [f"{number}" * (number % 4) for number in range(50)]
    vocabulary = Vocabulary.from_texts(lines[:30], unknown="drop")
    whole = encode_texts(lines, vocabulary)
    monkeypatch.setattr(encoding, "_TEXTS_AT_ONCE", 7)
    parts = encode_texts(lines, vocabulary)
    np.testing.assert_array_equal(parts.ids, whole.ids)
    np.testing.assert_array_equal(parts.starts, whole.starts)


@pytest.mark.parametrize(("size", "dtype"), [(253, np.uint8), (254, np.uint16), (65_534, np.int32)])
def test_ids_use_the_smallest_sufficient_type(size, dtype):
    vocabulary = Vocabulary([chr(0x40000 + number) for number in range(size)])
    encoded = encode_texts([vocabulary.characters[-1]], vocabulary)
    assert encoded.ids.dtype == dtype
    assert encoded.ids.tolist() == [size + 2, 1]


def test_unknown_character_error_names_character_and_text():
    vocabulary = Vocabulary("ab", unknown="error")
    assert encode_texts(["ab", ""], vocabulary).ids.tolist() == [3, 4, 1, 1]
    with pytest.raises(InputError, match=r"'x' \(U\+0078\) of 'xa' is not"):
        encode_texts(["", "ab", "", "xa", "ax"], vocabulary)


@given(texts, texts)
def test_character_counts_cover_all_normalised_texts(some, others):
    together = "".join(normalise([*some, *others]))
    assert character_counts(some, iter(others)) == {
        character: together.count(character) for character in sorted(set(together))
    }
