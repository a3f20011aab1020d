"""Characters are counted, named, and marked as rare or odd."""

from bytenet.datasets import Pairs
from bytenet.datasets.corpus_report.alphabet import count_characters


def test_characters_are_counted_named_and_marked():
    counted = {item.character: item for item in count_characters(Pairs(["a" * 12 + "ü\t"], ["u\u0308\ufffd "]))}
    assert list(counted) == ["a", "ü", "\t", " ", "\ufffd"]
    assert (counted["a"].count, counted["a"].rare, counted["a"].odd) == (12, False, False)
    assert (counted["ü"].count, counted["ü"].rare, counted["ü"].odd) == (2, True, False)
    assert (counted["ü"].code_point, counted["ü"].name) == ("U+00FC", "LATIN SMALL LETTER U WITH DIAERESIS")
    assert (counted["\t"].code_point, counted["\t"].name) == ("U+0009", "(no name, category Cc)")
    assert (counted["\ufffd"].name, counted["\ufffd"].odd) == ("REPLACEMENT CHARACTER", True)
