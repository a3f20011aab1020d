"""Characters that rarely belong in a sentence."""

import pytest

from bytenet.datasets.text.characters import is_odd


@pytest.mark.parametrize("character", ["\0", "\r", "\x85", "\u2028", "\u2029", "\ue000", "\ufffd", "\ufeff", "\u0378"])
def test_unusual_characters_are_odd(character):
    assert is_odd(character)


@pytest.mark.parametrize("text", [" aß„–€漢😀7", "\t\xa0\xad\u200b", "नमस्ते", "ภาษาไทย", "می\u200cروم", "u\u0308"])
def test_ordinary_characters_are_not_odd(text):
    """Also tabs, blanks that are not spaces, vowel signs and other marks, and the non-joiner of Persian."""
    assert not any(map(is_odd, text))
