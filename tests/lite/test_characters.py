"""The lite translator encodes and decodes as the vocabulary of the training does."""

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.datasets import Vocabulary, normalise
from bytenet.errors import InputError
from bytenet.lite.characters import Characters, decoded
from bytenet.lite.white_space import readable

from ..datasets.text.strategies import rules

LETTERS = "aou\u0308\u0301\u00fc\u00e9 \u1e69\u1100\u1161\uac00😀"
lines = st.text(st.sampled_from(LETTERS + "xyz☃\t\u2028"), max_size=12)


def both(letters: str, unknown: str) -> tuple[Vocabulary, Characters]:
    vocabulary = Vocabulary(sorted(set(normalise(letters))), unknown)
    return vocabulary, Characters(vocabulary.characters, unknown)


@given(lines, rules)
def test_line_has_the_ids_of_the_vocabulary(line, unknown):
    vocabulary, characters = both("aoüé 😀\uac00", unknown)
    ids = characters.encode(line)
    assert ids.dtype == np.int32
    np.testing.assert_array_equal(ids, vocabulary.encode(line))


@given(st.lists(st.integers(-1, 12), max_size=9), rules)
def test_ids_have_the_text_of_the_vocabulary(ids, unknown):
    vocabulary, characters = both("abcü", unknown)
    assert characters.decode(ids) == vocabulary.decode(ids)


def test_unknown_character_is_refused_by_the_rule_error():
    with pytest.raises(InputError, match=r"The character 'x' \(U\+0078\) of 'ax' is not in the vocabulary"):
        both("ab", "error")[1].encode("ax")


@pytest.mark.parametrize("frame", ["{}", "a{}\u0301"])
def test_python_normalises_the_characters_it_knows_as_training_does(frame):
    """Characters that came into Unicode after Python's version may differ. They are few, and none is common."""
    points = [*range(0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE0200)]
    frames = [frame.format(chr(point)) for point in points]
    differing = [
        text
        for text, expected in zip(frames, normalise(frames), strict=True)
        if unicodedata.normalize("NFC", text) != expected
    ]
    assert all(any(unicodedata.category(character) == "Cn" for character in text) for text in differing)
    assert len(differing) < 300


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"format": "bytenet-vocabulary-1", "unknown": "symbol", "characters": ["ab"]},
        {"format": "bytenet-vocabulary-1", "unknown": "symbol", "characters": [1]},
        {"format": "bytenet-vocabulary-1", "unknown": "symbol", "characters": "ab"},
        {"format": "bytenet-vocabulary-1", "unknown": "symbol", "characters": ["a", "b", "a"]},
        {"format": "bytenet-vocabulary-1", "unknown": "symbol", "characters": ["a", "\n"]},
        {"format": "bytenet-vocabulary-1", "unknown": "symbol", "characters": ["a", "\ud800"]},
        {"format": "bytenet-vocabulary-1", "unknown": ["symbol"], "characters": ["a"]},
        {"format": "bytenet-vocabulary-2", "unknown": "symbol", "characters": ["a"]},
    ],
)
def test_content_that_is_no_vocabulary_is_refused(content):
    with pytest.raises(InputError, match="model is not a vocabulary written by bytenet"):
        Characters.from_content(content, "model")


def test_every_character_of_a_line_may_be_in_a_vocabulary():
    """Lines of training files may have them: only "\\n" ends a line, and only "\\r" at the ends of all lines goes."""
    letters = ["\0", "\t", "\r", "\x85", "\u2028", "\ud7ff", "\ue000", "\U0010ffff"]
    content = json.loads(Vocabulary(letters).to_json())
    assert Characters.from_content(content, "model").symbols[3:] == letters


def test_text_ends_at_the_first_end_symbol():
    assert decoded([3, 0, 2, 1, 3], ["", "", "\ufffd", "a"]) == "a\ufffd"


def test_unknown_white_space_is_read_as_a_blank():
    known = frozenset("ab \u2002")
    assert readable("a\u2028b\x85a\rb\ta\u00a0b", known) == "a b a b a b"
    assert readable("a\u2002b\u2000\u200b☃ ", known) == "a\u2002b\u2000\u200b☃ "  # U+2000 is U+2002 in NFC
    assert readable("a\tb", frozenset("ab")) == "a\tb"
