"""The vocabulary: ids, round trips, and the same results in Python and in the graph."""

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.datasets import EOS_ID, PAD_ID, UNKNOWN_ID, Vocabulary
from bytenet.datasets.text.graph_encoding import encode_graph
from bytenet.datasets.text.normalisation import normalise
from bytenet.errors import InputError, MissingFileError

from .strategies import ODD, any_text, rules

# Few characters, so that texts and vocabularies share some. Some marks are reordered and composed.
likely_text = st.text(st.sampled_from("abuo\u0308\u0323\u0301\u00fc\u1e9b\u2126\uac00\u1100\u1161" + ODD), max_size=12)
texts = st.lists(any_text | likely_text, min_size=1, max_size=5)


def test_character_ids_are_sorted_and_follow_the_special_ids():
    vocabulary = Vocabulary(["c", "a", "b"])
    assert (PAD_ID, EOS_ID, UNKNOWN_ID) == (0, 1, 2)
    assert vocabulary.size == 6
    assert vocabulary.encode("cab").tolist() == [5, 3, 4, 1]
    assert vocabulary.encode("cab").dtype == np.int32
    assert vocabulary.encode("").tolist() == [1]


def test_unknown_characters_are_handled_by_each_rule():
    assert Vocabulary("ab").encode("axb").tolist() == [3, 2, 4, 1]
    assert Vocabulary("ab").decode([3, 2, 4, 1]) == "a\ufffdb"
    dropping = Vocabulary("ab", unknown="drop")
    assert dropping.size == 4
    assert dropping.encode("axb").tolist() == [2, 3, 1]
    assert dropping.decode([2, 3, 1]) == "ab"
    assert (Vocabulary("ab").encoded_characters("au\u0308b"), dropping.encoded_characters("axb")) == ("aüb", "ab")
    assert (Vocabulary("ab").unknown_id, dropping.unknown_id) == (2, None)
    with pytest.raises(
        InputError, match=r"'x' \(U\+0078\) .* of the model\. Remove it from the text, or train with data\.unk"
    ):
        Vocabulary("ab", unknown="error").encode("axb")


def test_empty_vocabulary_encodes_every_character_as_unknown():
    assert Vocabulary("").encode("ab").tolist() == [2, 2, 1]
    assert encode_graph(Vocabulary(""), ["ab"]).numpy().tolist() == [[2, 2, 1]]


def test_decode_stops_at_the_first_end_and_skips_padding():
    vocabulary = Vocabulary("ab")
    assert vocabulary.decode([0, 3, 0, 4, 1, 3]) == "ab"
    assert vocabulary.decode([3, 4]) == "ab"
    assert vocabulary.decode([3, 99, -1]) == "a\ufffd\ufffd"
    assert vocabulary.decode_batch(np.array([[3, 1, 4], [4, 4, 1]])) == ["a", "bb"]


def test_a_decomposed_letter_is_one_symbol():
    vocabulary = Vocabulary.from_texts(["u\u0308"])
    assert vocabulary.characters == ("ü",)
    assert vocabulary.encode("u\u0308").tolist() == vocabulary.encode("ü").tolist() == [3, 1]


def test_from_texts_counts_over_all_texts():
    vocabulary = Vocabulary.from_texts(["ab", "ac"], ["bd"], min_count=2)
    assert vocabulary.characters == ("a", "b")


@given(texts, rules)
def test_round_trip_of_any_text(lines, unknown):
    vocabulary = Vocabulary.from_texts(lines, unknown=unknown)
    for line in lines:
        ids = vocabulary.encode(line)
        assert [vocabulary.decode(ids)] == normalise([line])
        assert ids[-1] == EOS_ID
        assert (ids[:-1] >= vocabulary.size - len(vocabulary.characters)).all()
    assert vocabulary.encoded_lengths(lines).tolist() == [len(vocabulary.encode(line)) for line in lines]


@given(texts, texts, rules)
def test_batch_encoding_equals_the_encoding_of_each_text(known, lines, unknown):
    vocabulary = Vocabulary.from_texts(known, unknown=unknown)
    encoded = vocabulary.encode_batch(lines)
    assert [ids.tolist() for ids in encoded] == [vocabulary.encode(line).tolist() for line in lines]
    assert vocabulary.encoded_lengths(lines).tolist() == [len(ids) for ids in encoded]
    assert vocabulary.encode_batch([]) == []


def test_lengths_refuse_unknown_characters_under_the_error_rule():
    vocabulary = Vocabulary("ab", unknown="error")
    assert vocabulary.encoded_lengths(["ab", "", "a"]).tolist() == [3, 1, 2]
    with pytest.raises(InputError, match=r"'x' \(U\+0078\)"):
        vocabulary.encoded_lengths(["ab", "axb"])


@settings(max_examples=40)
@given(texts, texts, rules)
def test_the_graph_encodes_as_python_does(known, lines, unknown):
    vocabulary = Vocabulary.from_texts(known, unknown=unknown)
    expected = [vocabulary.encode(line) for line in lines]
    longest = max(len(ids) for ids in expected)
    padded = np.array([np.pad(ids, (0, longest - len(ids))) for ids in expected])
    encoded = encode_graph(vocabulary, [line.encode("utf-8") for line in lines])
    assert encoded.dtype == "int32"
    np.testing.assert_array_equal(encoded, padded)


def test_the_graph_encodes_every_character_as_python_does():
    # All characters of the first two planes, and some of the others, which have ideographs or nothing.
    points = [*range(0xD800), *range(0xE000, 0x20000), *range(0x20000, 0x110000, 101), 0x10FFFF]
    every = [chr(point) for point in points]
    vocabulary = Vocabulary([char for char, normal in zip(every, normalise(every), strict=True) if normal == char][::3])
    # One text of all characters, with a letter between neighbours so that nothing is composed.
    text = "x".join(every)
    encoded = encode_graph(vocabulary, [text.encode("utf-8")])[0]
    np.testing.assert_array_equal(encoded, vocabulary.encode(text))


def test_graph_pads_to_the_given_length():
    vocabulary = Vocabulary("ab")
    assert encode_graph(vocabulary, ["ab", "a"], 5).numpy().tolist() == [[3, 4, 1, 0, 0], [3, 1, 0, 0, 0]]


def test_graph_refuses_unknown_characters_under_the_error_rule():
    import tensorflow as tf

    vocabulary = Vocabulary("ab", unknown="error")
    assert encode_graph(vocabulary, ["ab"]).numpy().tolist() == [[3, 4, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the vocabulary"):
        tf.function(encode_graph)(vocabulary, tf.constant(["axb"]))


@given(texts, rules)
def test_json_keeps_every_character(lines, unknown):
    vocabulary = Vocabulary.from_texts(lines, [ODD], unknown=unknown)
    again = Vocabulary.from_json(vocabulary.to_json())
    assert again == vocabulary
    assert again.encode(ODD).tolist() == vocabulary.encode(ODD).tolist()
    assert again.fingerprint() == vocabulary.fingerprint()


def test_saved_vocabulary_is_loaded_unchanged(tmp_path):
    vocabulary = Vocabulary.from_texts([ODD, "äöü"])
    vocabulary.save(tmp_path / "vocabulary.json")
    assert Vocabulary.load(tmp_path / "vocabulary.json") == vocabulary
    assert [path.name for path in tmp_path.iterdir()] == ["vocabulary.json"]


def test_different_vocabularies_differ():
    vocabulary = Vocabulary("ab")
    assert vocabulary == Vocabulary("ba")
    for other in (Vocabulary("abc"), Vocabulary("ab", unknown="drop"), Vocabulary("ac")):
        assert vocabulary != other
        assert vocabulary.fingerprint() != other.fingerprint()
    assert vocabulary != "ab"


@pytest.mark.parametrize(
    ("characters", "named"),
    [(["ab"], "'ab'"), ([""], "''"), (["a", "a"], "'a'"), (["\u212b"], "\u212b"), (["\ud800"], "ud800")],
)
def test_invalid_and_repeated_characters_are_refused(characters, named):
    with pytest.raises(InputError, match=named):
        Vocabulary(characters)


def test_a_character_that_python_does_not_know_needs_no_tensorflow(monkeypatch):
    """A server without TensorFlow reads the vocabularies of models that know newer characters than its Python."""
    assert unicodedata.category("\u0378") == "Cn"
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    assert Vocabulary(["a", "\u0378"]).characters == ("a", "\u0378")


def test_an_unknown_rule_is_refused():
    with pytest.raises(InputError, match=r"'ignore'.*symbol.*drop.*error"):
        Vocabulary("ab", unknown="ignore")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"format": "other", "unknown": "drop", "characters": []}',
        b"\xff\xfe",
        b'{"form',
        b"[" * 100_000,
        b'{"format": "bytenet-vocabulary-1", "unknown": "drop", "characters": [1]}',
    ],
)
def test_file_that_is_not_a_vocabulary_is_refused(tmp_path, content):
    path = tmp_path / "vocabulary.json"
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"vocabulary\.json is damaged .*; expected a vocabulary\.json that bytenet wrote"
    ):
        Vocabulary.load(path)


def test_missing_vocabulary_error_names_the_path(tmp_path):
    with pytest.raises(MissingFileError, match=r"There is no file .*gone\.json; expected a vocabulary"):
        Vocabulary.load(tmp_path / "gone.json")
