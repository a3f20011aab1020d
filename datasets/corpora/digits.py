"""Synthetic Digits: two or three digits, spelled out in English, to be written as numerals."""

from typing import Any

import numpy as np

from bytenet.datasets.corpora.entry import CorpusEntry
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.errors import InputError

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_MIN_DIGITS, _MAX_DIGITS = 2, 3


def digits(seed: int, size: int) -> Pairs:
    """`size` random digit strings, such as "three eight eight" → "388".

    Drawn with NumPy's legacy generator exactly as the thesis's code draws them: seed 99 begins 388, 849, 28.

    Raises:
        InputError: `size` is below 1.

    Reference:
        Madsen 2017, section 3.3.1.
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


def _read(config: Any) -> Corpus:
    def split(seed: int | None, default_seed: int, size: int | None) -> Pairs:
        return digits(default_seed if seed is None else seed, size or 128)

    words = numerals = None
    if (size := config.num_monolingual) is not None:
        # Of twice as many, so that the numerals are not drawn as the translations of the words.
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
    settings=("num_train", "num_validation", "num_test", "train_seed", "validation_seed", "test_seed"),
)
