"""Number words: 21 is "einundzwanzig" and "twenty-one". Real spelling and word order, and as much data as needed."""

from typing import TYPE_CHECKING

import numpy as np

from bytenet.datasets.corpora.entry import CorpusEntry
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.errors import InputError

if TYPE_CHECKING:
    from bytenet.config import DataConfig

LIMIT = 1_000_000
# All smaller numbers are training data, so that each word of the languages can be learned.
FIRST_HELD_OUT = 100
_HELD_OUT_SHARE = 0.1
DEFAULT_SIZES = {"train": 20_000, "validation": 500, "test": 1_000}


def number_splits(seed: int, num_train: int, num_validation: int, num_test: int) -> dict[str, np.ndarray]:
    """Draw numbers from 0 to 999,999 for training, validation and test. No number is in two splits.

    The seed alone decides which tenth of the numbers is held out, half of it for validation and half for test. A larger
    split contains a smaller one. Within a split, numbers are drawn without repetition in proportion to 1 / (n + 1). So
    there are about as many numbers with each number of digits, until the short ones run out.

    Returns:
        For "train", "validation" and "test": int64, in random order.

    Raises:
        InputError: a split does not have so many numbers.
    """
    random = np.random.RandomState(seed)  # the legacy generator never changes its numbers
    numbers = np.arange(LIMIT)
    share = random.random_sample(LIMIT)
    weight_keys = -np.log(numbers + 1.0) + random.gumbel(size=LIMIT)  # the k highest: k draws by weight
    held_out = (share < _HELD_OUT_SHARE) & (numbers >= FIRST_HELD_OUT)
    members = {
        "train": ~held_out,
        "validation": held_out & (share < _HELD_OUT_SHARE / 2),
        "test": held_out & (share >= _HELD_OUT_SHARE / 2),
    }
    splits = {}
    for (name, member), size in zip(members.items(), (num_train, num_validation, num_test), strict=True):
        candidates = numbers[member]
        if not 1 <= size <= len(candidates):
            raise InputError(
                f"data.num_{name} = {size}; expected 1 to {len(candidates)}, as that many of the numbers below {LIMIT} "
                "belong to this split."
            )
        drawn = candidates[np.argsort(-weight_keys[member], kind="stable")[:size]]
        splits[name] = random.permutation(drawn)
    return splits


def spell(numbers: np.ndarray, language: str) -> list[str]:
    """The words for `numbers`, such as "einundzwanzig".

    Raises:
        InputError: num2words does not know the language.
    """
    from num2words import num2words

    try:
        return [num2words(int(number), lang=language) for number in numbers]
    except NotImplementedError as error:
        raise InputError(
            f"num2words cannot spell numbers in the language {language!r}. Use a code such as de, en, fr or "
            "es for data.source_language and data.target_language."
        ) from error


def _read(config: "DataConfig") -> Corpus:
    sizes = {name: getattr(config, f"num_{name}") or size for name, size in DEFAULT_SIZES.items()}
    seed = 1 if config.train_seed is None else config.train_seed
    splits = number_splits(seed, sizes["train"], sizes["validation"], sizes["test"])
    languages = config.source_language, config.target_language
    pairs = {name: Pairs(*(spell(numbers, language) for language in languages)) for name, numbers in splits.items()}
    return Corpus("numbers", pairs["train"], pairs["validation"], pairs["test"], *languages)


ENTRY = CorpusEntry(
    name="numbers",
    description="number words from 0 to 999,999, generated with num2words; a tenth is held out",
    licence="generated",
    homepage="https://github.com/savoirfairelinux/num2words",
    languages=(),
    pairs=DEFAULT_SIZES,
    files=tuple,
    read=_read,
    languages_note="any that num2words can spell",
    settings=("num_train", "num_validation", "num_test", "train_seed"),
)
