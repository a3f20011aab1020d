"""Limits on sentence length, and samples of the training pairs."""

import logging

import pytest

from bytenet.config import DataConfig
from bytenet.datasets import Corpus, Pairs, Vocabulary, select_monolingual, select_training_pairs, training_pairs
from bytenet.errors import InputError

PAIRS = Pairs(["", "a", "ab", "abc", "abcd", "abcde"], ["x", "", "xy", "xyzuv", "x", "u\u0308v\u0308wxy"])


@pytest.mark.parametrize(
    ("shortest", "longest", "kept"),
    [(0, 9, [0, 1, 2, 3, 4, 5]), (1, 500, [2, 3, 4, 5]), (1, 4, [2, 4]), (2, 5, [2, 3]), (2, 6, [2, 3, 5])],
)
def test_limits_are_inclusive_and_hold_for_both_sides(shortest, longest, kept):
    # In NFC the last target has 6 characters: there is no single character for v with a diaeresis.
    config = DataConfig(min_length=shortest, max_length=longest)
    assert select_training_pairs(PAIRS, config) == PAIRS.take(kept)


@pytest.mark.parametrize("blank", [" ", "\u00a0\t", "\u200b \u200b", "\ufeff"])
def test_invisible_lines_count_as_empty(blank):
    pairs = Pairs(["a", blank, "b"], [blank, "x", "y"])
    assert select_training_pairs(pairs, DataConfig(min_length=1)) == pairs.take([2])
    assert select_training_pairs(pairs, DataConfig(min_length=0)) == pairs
    selected = select_monolingual(pairs.source, DataConfig(min_length=1), Vocabulary.from_texts(pairs.source))
    assert (selected.texts, selected.outside_limits) == (["a", "b"], 1)


def test_long_invisible_lines_are_left_out():
    pairs = Pairs(["a", " " * 6, " " * 5], ["x", "y", "z"])
    config = DataConfig(min_length=0, max_length=5)
    assert select_training_pairs(pairs, config) == pairs.take([0, 2])
    selected = select_monolingual(pairs.source, config, Vocabulary.from_texts(pairs.source))
    assert (selected.texts, selected.outside_limits) == (["a", " " * 5], 1)


def test_number_of_pairs_left_out_is_logged(caplog):
    caplog.set_level(logging.INFO, "bytenet.datasets")
    select_training_pairs(PAIRS, DataConfig(max_length=4))
    assert "4 of 6 training pairs are left out: not 1 to 4 characters" in caplog.text


def test_no_pair_within_the_limits_is_an_error():
    with pytest.raises(InputError, match=r"None of the 2 training pairs has 1 to 3 characters.*they have 4 to 9"):
        select_training_pairs(Pairs(["abcd", "abcde"], ["123456789", "12345"]), DataConfig(max_length=3))


def test_sample_is_spread_out_ordered_and_part_of_larger_samples():
    pairs = Pairs([f"s{i:03}" for i in range(300)], ["t"] * 300)
    small = select_training_pairs(pairs, DataConfig(max_train_pairs=30))
    large = select_training_pairs(pairs, DataConfig(max_train_pairs=100))
    assert (len(small), len(large)) == (30, 100)
    assert set(small.source) <= set(large.source)
    assert large.source == sorted(large.source)
    assert small.source[0] < "s100" < "s200" < small.source[-1]
    assert select_training_pairs(pairs, DataConfig(max_train_pairs=1000)) == pairs


def corpus_with(synthetic):
    return Corpus("files", PAIRS, None, None, "de", "en", synthetic=synthetic)


def test_synthetic_pairs_within_the_limits_come_after_copies_of_the_pairs_and_have_a_tag():
    synthetic = Pairs(["wxyz", "w", "much too long"], ["jklm", "", "j"])
    config = DataConfig(max_length=4, synthetic_tag="§", pair_copies=3)
    selected = training_pairs(corpus_with(synthetic), config)
    real = select_training_pairs(PAIRS, config)
    assert selected.epoch == Pairs([*real.source * 3, "§wxyz"], [*real.target * 3, "jklm"])
    assert selected.once == Pairs([*real.source, "§wxyz"], [*real.target, "jklm"])
    assert (selected.real, selected.synthetic) == (real, Pairs(["§wxyz"], ["jklm"]))


def test_synthetic_pairs_may_have_no_tag():
    selected = training_pairs(corpus_with(Pairs(["w"], ["j"])), DataConfig(synthetic_tag=None))
    assert selected.synthetic == Pairs(["w"], ["j"])


def test_without_synthetic_pairs_and_copies_the_selected_pairs_are_learned():
    selected = training_pairs(corpus_with(None), DataConfig())
    assert selected.epoch is selected.once is selected.real
    assert selected.real == select_training_pairs(PAIRS, DataConfig())
    assert len(selected.synthetic) == 0


def test_no_synthetic_pair_within_the_limits_is_an_error():
    with pytest.raises(InputError, match="None of the 1 synthetic pairs has 1 to 4 characters"):
        training_pairs(corpus_with(Pairs(["abcde"], ["x"])), DataConfig(max_length=4))
