"""Pairs that may not be translations of each other."""

import pytest

from bytenet.datasets import Pairs
from bytenet.datasets.corpus_report import find_suspicious


def test_suspicious_pairs_are_reported_with_line_numbers(suspicious_texts):
    found = {item.reason: item for item in find_suspicious(Pairs(*suspicious_texts))}
    assert [item.count for item in found.values()] == [1, 1, 1]
    empty, equal, ratio = found.values()
    assert empty.examples == ((2, "", "nothing"),)
    assert equal.examples == ((3, "gleich", "gleich"),)
    assert ratio.examples == ((4, "@@", "This is a long sentence."),)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (" \u00a0", "x", "a side is empty"),
        ("x", "\t", "a side is empty"),
        ("", "", "a side is empty"),
        ("a" * 20, "b" * 6, "one side more than 3 times as long as the other"),
        ("a" * 21, "b" * 7, None),
        ("a" * 20, "b" * 7, None),
        ("a" * 19, "b", None),
        ("a", "b", None),
    ],
)
def test_pairs_are_suspicious_only_beyond_the_limits(source, target, reason):
    found = [item.reason for item in find_suspicious(Pairs([source], [target])) if item.count]
    assert found == ([reason] if reason else [])


def test_only_the_first_five_examples_are_kept():
    empty = find_suspicious(Pairs([""] * 100, ["x"] * 100))[0]
    assert empty.count == 100
    assert [line for line, _, _ in empty.examples] == [1, 2, 3, 4, 5]


def test_comparison_ignores_unicode_forms_and_invisible_characters():
    sources, targets = ["Ha\u0308user", "ein", "\u200b\ufeff ", "a" * 40], ["H\u00e4user", "one", "two", "a\u0308" * 40]
    empty, equal, unequal = find_suspicious(Pairs(sources, targets))
    assert [line for line, _, _ in empty.examples] == [3]
    assert [line for line, _, _ in equal.examples] == [1]
    assert unequal.count == 0
