"""Batches of few distinct shapes. A graph is traced and compiled again for every new shape."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np

from bytenet.datasets import PAD_ID
from bytenet.lite.characters import check_length

_SHORTEST = 32


def padded_size(size: int, smallest: int = 1, factor: int = 2) -> int:
    """The first of `smallest`, `factor` · `smallest`, `factor`² · `smallest`, ... that is at least `size`.

    Raises:
        ValueError: `factor` is below 2.
    """
    if factor < 2:
        raise ValueError(f"row_factor is {factor}; expected 2 or more.")
    while smallest < size:
        smallest *= factor
    return smallest


def padded_sizes(largest: int, factor: int) -> tuple[int, ...]:
    """The numbers of rows of padded batches, see `batches_by_length`: 1, `factor`, `factor`², ..., `largest`."""
    return tuple(sorted({min(largest, padded_size(size, factor=factor)) for size in range(1, largest + 1)}))


def padded_length(length: int) -> int:
    """The length to which sequences of up to `length` symbols are padded: 32, 64, 128, ..."""
    return padded_size(length, _SHORTEST)


def padded_lengths(largest: int, trained_lengths: Sequence[int] | None, longest: int | None) -> list[int]:
    """The lengths of padded batches of sequences of up to `largest` symbols, see `batches_by_length`; ascending."""
    return sorted({_padded_length(length, trained_lengths, longest) for length in range(1, largest + 1)})


def _padded_length(length: int, trained_lengths: Sequence[int] | None, longest: int | None) -> int:
    if trained_lengths is None:
        return min(padded_length(length), longest or sys.maxsize)
    return next((trained for trained in trained_lengths if trained >= length), length)


def pad_batch(sequences: Sequence[np.ndarray], rows: int, length: int) -> np.ndarray:
    """Id sequences as int32 `(rows, length)`, padded with 0. Rows without a sequence are all 0."""
    batch = np.full((rows, length), PAD_ID, np.int32)
    for row, ids in zip(batch, sequences, strict=False):
        row[: len(ids)] = ids
    return batch


def batches_by_length(
    indices: Iterable[int],
    lengths: Sequence[int],
    batch_size: int,
    trained_lengths: Sequence[int] | None = None,
    longest: int | None = None,
    row_factor: int = 2,
) -> Iterator[tuple[list[int], int, int]]:
    """Group sequences of similar length.

    Args:
        indices: indices of the sequences to group.
        lengths: the length of each sequence, by its index.
        batch_size: largest number of sequences in a batch.
        trained_lengths: the lengths that sequences were padded to in training, ascending; for models that read padding.
        longest: the largest length that the model can read; None for no limit.
        row_factor: the numbers of rows of padded batches are powers of it.

    Yields:
        For each batch: the indices, shortest sequence first; the number of rows of the padded batch, which is a power
        of `row_factor` or `batch_size`; and the padded length. The padded length is a result of `padded_length`, but
        not above `longest`. With `trained_lengths`, it is the smallest of them that is long enough; a sequence longer
        than all of them is not padded.

    Raises:
        InputError: a sequence is longer than `longest`.
    """
    in_order = sorted(indices, key=lambda index: lengths[index])
    if in_order:
        check_length(lengths[in_order[-1]], longest)

    def trained_length(index: int) -> int | None:
        return None if trained_lengths is None else _padded_length(lengths[index], trained_lengths, longest)

    for _, indices_of_length in groupby(in_order, trained_length):
        group = list(indices_of_length)
        for start in range(0, len(group), batch_size):
            batch = group[start : start + batch_size]
            rows = min(batch_size, padded_size(len(batch), factor=row_factor))
            yield batch, rows, _padded_length(lengths[batch[-1]], trained_lengths, longest)
