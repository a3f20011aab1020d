"""Batches of random sentences without padding, from the real input pipeline."""

import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import UNKNOWN_ID, Pairs, Vocabulary, pair_lengths, plan_batches, training_dataset
from bytenet.errors import InputError

_BATCHES = 4
_FIRST_CHARACTER = ord("一")
MOST_IDS = 0xD800 - _FIRST_CHARACTER + UNKNOWN_ID + 1  # the next code points are no characters


def synthetic_vocabulary(vocab_size: int) -> Vocabulary:
    """A vocabulary of arbitrary characters.

    Args:
        vocab_size: number of ids, with padding, end and unknown symbols.

    Raises:
        InputError: there are fewer ids than the three symbols and two characters, or more than `MOST_IDS`.
    """
    if not UNKNOWN_ID + 3 <= vocab_size <= MOST_IDS:
        raise InputError(f"vocab_size = {vocab_size:,}; expected a number from {UNKNOWN_ID + 3} to {MOST_IDS:,}.")
    return Vocabulary([chr(_FIRST_CHARACTER + index) for index in range(vocab_size - UNKNOWN_ID - 1)])


def full_length_batches(
    config: Config, vocabulary: Vocabulary, batch_size: int, length: int, replicas: int = 1
) -> tf.data.Dataset:
    """Endless training batches of random sentences that all have the same length, so that there is no padding.

    Args:
        config: reads `training.seed` and `training.loss` from it. The loss decides the sample weights.
        vocabulary: from `synthetic_vocabulary`.
        batch_size: rows, a multiple of `replicas`.
        length: ids of each sentence on both sides, with the end symbol.
        replicas: devices that share each batch.

    Returns:
        A dataset with the elements of `bytenet.datasets.training_dataset`.

    Raises:
        InputError: the replicas cannot share the batch evenly, or a number is below 1.
    """
    if min(batch_size, length, replicas) < 1:
        raise InputError(
            f"Found batch_size {batch_size}, length {length} and replicas {replicas}. Each must be at least 1."
        )
    if batch_size % replicas:
        raise InputError(
            f"{replicas} replicas cannot share a batch of {batch_size} sentences evenly. Choose a batch size that is a "
            f"multiple of {replicas}."
        )
    random = np.random.default_rng(0)
    characters = np.array(vocabulary.characters)

    def sentences() -> list[str]:
        return ["".join(row) for row in random.choice(characters, (_BATCHES * batch_size, length - 1))]

    pairs = Pairs(sentences(), sentences())
    plan = plan_batches(pair_lengths(pairs, vocabulary), batch_size, replicas=replicas, bucketing="none")
    return training_dataset(pairs, vocabulary, plan, config.training.seed, loss=config.training.loss)
