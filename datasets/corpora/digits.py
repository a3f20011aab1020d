"""Synthetic Digits: two or three digits spelled out in English, to be translated into numerals."""

from typing import TYPE_CHECKING

import numpy as np

from bytenet.datasets.corpora.entry import CorpusEntry
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.errors import InputError

if TYPE_CHECKING:
    from bytenet.config import DataConfig

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_MIN_DIGITS, _MAX_DIGITS = 2, 3


def digits(seed: int, size: int) -> Pairs:
    """Draw `size` random digit strings, such as "three eight eight" → "388".

    NumPy's legacy generator draws the same digits as in the thesis's code: seed 99 begins with 388, 849, 28.

    Raises:
        InputError: `size` is below 1.

    Reference:
        Madsen 2017, section 3.1.2.
    """
    if size < 1:
        raise InputError(f"Digits need a size of 1 or more; found {size}.")
    random = np.random.RandomState(seed)
    source, target = [], []
    for _ in range(size):
        length = random.randint(_MIN_DIGITS, _MAX_DIGITS + 1, dtype=np.uint8)
        drawn = random.randint(0, 10, size=length, dtype=np.int8)
        source.append(" ".join(NAMES[digit] for digit in drawn))
        target.append("".join(str(digit) for digit in drawn))
    return Pairs(source, target)


def _read(config: "DataConfig") -> Corpus:
    def split(seed: int | None, default_seed: int, size: int | None) -> Pairs:
        return digits(default_seed if seed is None else seed, size or 128)

    words = numerals = None
    if (size := config.num_monolingual) is not None:
        # Words from the first half and numerals from the second, so that they are not translations of each other.
        text = split(config.monolingual_seed, 13, 2 * size)
        words, numerals = text.source[:size], text.target[size:]
    return Corpus(
        "digits",
        train=split(config.train_seed, 10, config.num_train),
        validation=split(config.validation_seed, 12, config.num_validation),
        test=split(config.test_seed, 11, config.num_test),
        source_language="words",
        target_language="digits",
        monolingual_source=words,
        monolingual_target=numerals,
    )


ENTRY = CorpusEntry(
    name="digits",
    description="Synthetic Digits of the thesis: spelled digits to numerals, generated (seeds 10, 12, 11)",
    licence="generated",
    homepage="https://github.com/AndreasMadsen/master-thesis",
    languages=(),
    pairs={"train": 128, "validation": 128, "test": 128},
    files=tuple,
    read=_read,
    languages_note="English words to numerals",
    settings=("num_train", "num_validation", "num_test", "train_seed", "validation_seed", "test_seed"),
)
