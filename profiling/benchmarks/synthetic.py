"""Batches of full length, of any shape, through the real input pipeline."""

import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import UNKNOWN_ID, Pairs, Vocabulary, pair_lengths, plan_batches, training_dataset
from bytenet.errors import InputError

_BATCHES = 4


def synthetic_vocabulary(vocab_size: int) -> Vocabulary:
    """A vocabulary of so many ids; its characters mean nothing.

    Raises:
        InputError: too few for the three ids with a meaning and two characters.
    """
    if vocab_size < UNKNOWN_ID + 3:
        raise InputError(f"vocab_size = {vocab_size}; expected at least {UNKNOWN_ID + 3}, two of them characters.")
    return Vocabulary([chr(ord("一") + index) for index in range(vocab_size - UNKNOWN_ID - 1)])


def full_length_batches(
    config: Config, vocabulary: Vocabulary, batch_size: int, length: int, replicas: int = 1
) -> tf.data.Dataset:
    """Endless training batches of random sentences that all have the same length, so that nothing is padding.

    Args:
        config: its loss decides the sample weights.
        vocabulary: from `synthetic_vocabulary`.
        batch_size: rows, a multiple of `replicas`.
        length: ids of each sentence on both sides, end symbol counted.
        replicas: devices that share each batch.

    Returns:
        The elements of `bytenet.datasets.training_dataset`.

    Raises:
        InputError: the batch cannot be dealt out evenly, or a number is below 1.
    """
    if min(batch_size, length, replicas) < 1:
        raise InputError(f"batch_size {batch_size}, length {length} and replicas {replicas} must be at least 1.")
    if batch_size % replicas:
        raise InputError(f"{batch_size} sentences a batch cannot be dealt out evenly to {replicas} replicas.")
    random = np.random.default_rng(0)
    characters = np.array(vocabulary.characters)

    def sentences() -> list[str]:
        return ["".join(row) for row in random.choice(characters, (_BATCHES * batch_size, length - 1))]

    pairs = Pairs(sentences(), sentences())
    plan = plan_batches(pair_lengths(pairs, vocabulary), batch_size, replicas=replicas, bucketing="none")
    return training_dataset(pairs, vocabulary, plan, config.training.seed, loss=config.training.loss)
