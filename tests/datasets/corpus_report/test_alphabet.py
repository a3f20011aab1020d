"""Characters are counted, named, and marked as rare or odd."""

import pytest

from bytenet.datasets import Pairs
from bytenet.datasets.corpus_report.alphabet import count_characters, is_odd


def test_characters_are_counted_named_and_marked():
    counted = {item.character: item for item in count_characters(Pairs(["a" * 12 + "ü\t"], ["u\u0308\u200b "]))}
    assert list(counted) == ["a", "ü", "\t", " ", "\u200b"]
    assert (counted["a"].count, counted["a"].rare, counted["a"].odd) == (12, False, False)
    assert (counted["ü"].count, counted["ü"].rare, counted["ü"].odd) == (2, True, False)
    assert (counted["ü"].code_point, counted["ü"].name) == ("U+00FC", "LATIN SMALL LETTER U WITH DIAERESIS")
    assert (counted["\t"].code_point, counted["\t"].name) == ("U+0009", "(no name, category Cc)")
    assert (counted["\u200b"].name, counted["\u200b"].odd) == ("ZERO WIDTH SPACE", True)


@pytest.mark.parametrize(
    "character", ["\0", "\t", "\x85", "\xa0", "\xad", "\u0308", "\u2028", "\ufeff", "\ufffd", "\u0378"]
)
def test_unusual_characters_are_odd(character):
    assert is_odd(character)


@pytest.mark.parametrize("character", [" ", "a", "ß", "„", "–", "€", "漢", "😀", "7"])
def test_ordinary_characters_are_not_odd(character):
    assert not is_odd(character)
