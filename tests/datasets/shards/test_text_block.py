"""Lengths, kinds of characters and the normal form of many texts at once."""

import unicodedata
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bytenet.datasets.shards.sharding.text_block import LETTER, ODD, UNASSIGNED, VISIBLE, TextBlock
from bytenet.datasets.text.normalisation import normalise
from bytenet.lite.white_space import is_blank

lines = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=9), min_size=1)


@given(lines)
def test_texts_are_measured_in_nfc(texts):
    block = TextBlock.of([text.encode() for text in texts])
    expected = [unicodedata.normalize("NFC", text) for text in texts]
    assert [line.decode() for line in block.lines] == expected
    assert block.lengths.tolist() == [len(text) for text in expected]
    assert block.readable.all()
    assert ((block.kinds & VISIBLE) == 0).tolist() == [is_blank(text) for text in expected]
    is_letter = [[unicodedata.category(character)[0] in "LM" for character in text] for text in expected]
    assert block.count_letters().tolist() == [sum(letters) for letters in is_letter]


def test_the_normal_form_is_that_of_training():
    # The letters and marks of many scripts, one after the other, so that they combine.
    points = [*range(0x250), *range(0x300, 0x370), *range(0x900, 0xE00), *range(0x1100, 0x1200), *range(0xAC00, 0xAC40)]
    texts = ["".join(map(chr, pair)) for pair in pairwise(points) if 10 not in pair]
    texts += ["u\u0308", "\u1100\u1161\u11a8", "\u0958", "a\u0323\u0307", "\u2126"]
    known = [text for text in texts if all(unicodedata.category(character) != "Cn" for character in text)]
    block = TextBlock.of([text.encode() for text in known])
    assert [line.decode() for line in block.lines] == normalise(known)


def test_odd_characters_are_found():
    odd = ["\0", "\x85", "\u2028", "\u2029", "\ue000", "\ufffd", "\r", "\U000e0080"]
    fine = ["\t", "a", " ", "\u200b", "\xad", "日", "😀", "\xa0", ""]
    block = TextBlock.of([f"x{character}y".encode() for character in [*odd, *fine]])
    assert ((block.kinds & ODD) != 0).tolist() == [True] * len(odd) + [False] * len(fine)
    assert ((block.kinds & UNASSIGNED) != 0).tolist() == [character == odd[-1] for character in [*odd, *fine]]
    assert (block.kinds & LETTER).all()


def test_bytes_that_are_not_utf8_become_empty_texts():
    block = TextBlock.of(["für".encode(), "für".encode("latin-1"), b"\xed\xa0\x80", b""])
    assert block.lines == ["für".encode(), b"", b"", b""]
    np.testing.assert_array_equal(block.readable, [True, False, False, True])
    np.testing.assert_array_equal(block.lengths, [3, 0, 0, 0])
