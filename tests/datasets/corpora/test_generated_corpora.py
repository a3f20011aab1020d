"""Generated corpora: the digits of the thesis, and numbers in words."""

import numpy as np
import pytest

from bytenet.config import DataConfig
from bytenet.datasets import load_corpus
from bytenet.datasets.corpora import digits, number_splits
from bytenet.datasets.corpora.numbers import FIRST_HELD_OUT, spell
from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.errors import InputError


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (99, "388 849 28 54 730 704 119 41 671 407"),
        (11, "104 156 559 16 234 53"),
        (10, "452 19 484"),
    ],
)
def test_digits_match_the_thesis(seed, expected):
    pairs = digits(seed, 128)
    targets = expected.split()
    assert pairs.target[: len(targets)] == targets
    assert len(pairs) == 128


def test_digits_are_spelled_out():
    pairs = digits(99, 4)
    assert pairs.source == ["three eight eight", "eight four nine", "two eight", "five four"]
    vocabulary = Vocabulary.from_texts(*[(*digits(10, 128).source, *digits(10, 128).target)], unknown="drop")
    assert vocabulary.size == 28


def test_digits_corpus_uses_the_thesis_seeds_by_default():
    corpus = load_corpus(DataConfig(corpus="digits"))
    assert corpus.train == digits(10, 128)
    assert corpus.test == digits(11, 128)
    assert corpus.validation == digits(12, 128)
    corpus = load_corpus(DataConfig(corpus="digits", train_seed=0, num_train=7, test_seed=2, num_test=1024))
    assert corpus.train == digits(0, 7)
    assert corpus.test == digits(2, 1024)


def test_digits_have_monolingual_text_only_on_request():
    assert load_corpus(DataConfig(corpus="digits")).monolingual_source is None
    corpus = load_corpus(DataConfig(corpus="digits", num_monolingual=9))
    assert corpus.monolingual_source == digits(13, 9).source
    assert corpus.monolingual_target == digits(13, 18).target[9:]  # not the translations of the words
    corpus = load_corpus(DataConfig(corpus="digits", num_monolingual=7, monolingual_seed=0, train_seed=4))
    assert corpus.monolingual_source == digits(0, 7).source
    assert corpus.train == digits(4, 128)


def test_reversed_digits_swap_sources_and_targets():
    corpus = load_corpus(DataConfig(corpus="digits", reversed=True, num_monolingual=5))
    plain = load_corpus(DataConfig(corpus="digits", num_monolingual=5))
    assert (corpus.source_language, corpus.target_language) == ("digits", "words")
    for split in ("train", "validation", "test"):
        assert getattr(corpus, split).source == getattr(plain, split).target
        assert getattr(corpus, split).target == getattr(plain, split).source
    assert corpus.monolingual_source == plain.monolingual_target
    assert corpus.monolingual_target == plain.monolingual_source
    assert corpus.reversed() == plain


def test_digits_of_size_zero_are_refused():
    with pytest.raises(InputError, match="found 0"):
        digits(1, 0)


EXPECTED_SPLITS = {
    "train": [192, 3106, 0, 14325],
    "validation": [106, 426, 31884, 318806],
    "test": [142, 659992, 22035, 1032],
}


def test_no_number_is_in_two_splits():
    splits = number_splits(seed=3, num_train=5000, num_validation=800, num_test=900)
    assert [len(splits[name]) for name in ("train", "validation", "test")] == [5000, 800, 900]
    together = np.concatenate(list(splits.values()))
    assert len(set(together.tolist())) == 6700
    assert together.min() >= 0
    assert together.max() < 1_000_000


def test_only_the_seed_decides_which_numbers_are_held_out():
    small = number_splits(seed=3, num_train=100, num_validation=50, num_test=60)
    large = number_splits(seed=3, num_train=8000, num_validation=900, num_test=70)
    for name, numbers in small.items():
        assert set(numbers.tolist()) <= set(large[name].tolist())
    # No number that can be trained on with this seed is held out with this seed.
    held_out = {*large["validation"].tolist(), *large["test"].tolist()}
    everything = set(number_splits(3, 800_000, 1, 1)["train"].tolist())
    assert not everything & held_out


def test_number_splits_never_change():
    splits = number_splits(seed=1, num_train=4, num_validation=4, num_test=4)
    assert {name: numbers.tolist() for name, numbers in splits.items()} == EXPECTED_SPLITS
    assert number_splits(2, 4, 4, 4)["test"].tolist() != EXPECTED_SPLITS["test"]


def test_small_numbers_are_trained_on_and_larger_ones_are_tested():
    splits = number_splits(seed=1, num_train=20_000, num_validation=500, num_test=1000)
    assert set(range(FIRST_HELD_OUT)) <= set(splits["train"].tolist())
    assert splits["test"].min() >= FIRST_HELD_OUT
    decades = np.bincount(np.log10(splits["test"]).astype(int), minlength=6)
    assert (decades[3:] > 100).all()


@pytest.mark.parametrize(("size", "named"), [(0, "num_test = 0"), (60_000, "num_test = 60000; expected 1 to 5")])
def test_impossible_size_of_the_test_split_is_refused(size, named):
    with pytest.raises(InputError, match=named):
        number_splits(1, 10, 10, size)


def test_numbers_are_spelled_in_the_given_language():
    assert spell(np.array([0, 21, 1001]), "de") == ["null", "einundzwanzig", "eintausendeins"]
    assert spell(np.array([21, 345]), "en") == ["twenty-one", "three hundred and forty-five"]
    with pytest.raises(InputError, match="language 'tlh'"):
        spell(np.array([1]), "tlh")


def test_numbers_corpus_has_the_given_sizes_and_languages():
    config = DataConfig(num_train=30, num_validation=4, num_test=5, source_language="en", target_language="fr")
    corpus = load_corpus(config)
    assert [len(pairs) for pairs in (corpus.train, corpus.validation, corpus.test)] == [30, 4, 5]
    test_numbers = number_splits(1, 30, 4, 5)["test"]
    assert corpus.test == Pairs(spell(test_numbers, "en"), spell(test_numbers, "fr"))
    assert (corpus.source_language, corpus.target_language) == ("en", "fr")
