"""Batches of few distinct shapes. A graph is traced and compiled again for every new shape."""

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from bytenet.datasets import PAD_ID
from bytenet.lite.characters import check_length

SHORTEST = 32
"""The smallest padded length for a model that does not read padding."""


class BatchShapes:
    """The shapes to which batches of sequences are padded.

    Args:
        batch_size: largest number of sequences in a batch, at least 1.
        longest: the length of the longest sequence that the model can read; None for no limit.
        trained_lengths: the lengths that sequences were padded to in training, ascending, for a model that reads
            padding; None for a model that does not.
        row_factor: the numbers of rows of batches are powers of it, or `batch_size`.

    Attributes:
        numbers_of_rows: 1, `row_factor`, `row_factor`², ..., `batch_size`.

    Raises:
        ValueError: `batch_size` is below 1, or `row_factor` is below 2.
    """

    def __init__(
        self,
        batch_size: int,
        longest: int | None = None,
        trained_lengths: Sequence[int] | None = None,
        row_factor: int = 2,
    ):
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; expected 1 or more.")
        if row_factor < 2:
            raise ValueError(f"row_factor is {row_factor}; expected 2 or more.")
        self._batch_size = batch_size
        self._longest = longest
        self._trained_lengths = trained_lengths
        numbers_of_rows = [1]
        while numbers_of_rows[-1] < batch_size:
            numbers_of_rows.append(min(numbers_of_rows[-1] * row_factor, batch_size))
        self.numbers_of_rows = tuple(numbers_of_rows)

    def padded_length(self, length: int) -> int:
        """The length to which sequences of up to `length` symbols are padded: 32, 64, 128, ..., but at most `longest`.

        With `trained_lengths`, it is the first of them that is long enough; a sequence longer than all is not padded.
        """
        if self._trained_lengths is not None:
            return next((trained for trained in self._trained_lengths if trained >= length), length)
        padded = SHORTEST
        while padded < length:
            padded *= 2
        return min(padded, self._longest or sys.maxsize)

    def up_to(self, largest: int) -> list[tuple[int, int]]:
        """Number of rows and length of all batches of sequences of up to `largest` symbols, shortest first."""
        lengths = sorted({self.padded_length(length) for length in range(1, largest + 1)})
        return [(rows, length) for length in lengths for rows in self.numbers_of_rows]

    def batches(self, lengths: Sequence[int]) -> Iterator[tuple[list[int], int, int]]:
        """Group sequences of similar length.

        Args:
            lengths: the length of each sequence.

        Yields:
            For each batch: the indices of its sequences, shortest first; and the number of rows and the length of the
            padded batch.

        Raises:
            InputError: a sequence is longer than `longest`.
        """
        in_order = sorted(range(len(lengths)), key=lambda index: lengths[index])
        if in_order:
            check_length(lengths[in_order[-1]], self._longest)

        def trained_length(index: int) -> int | None:
            return None if self._trained_lengths is None else self.padded_length(lengths[index])

        for _, indices_of_length in groupby(in_order, trained_length):
            group = list(indices_of_length)
            for start in range(0, len(group), self._batch_size):
                batch = group[start : start + self._batch_size]
                rows = next(rows for rows in self.numbers_of_rows if rows >= len(batch))
                yield batch, rows, self.padded_length(lengths[batch[-1]])


def pad_batch(sequences: Sequence[np.ndarray], rows: int, length: int) -> np.ndarray:
    """Id sequences as int32 `(rows, length)`, padded with 0. Rows without a sequence are all 0."""
    batch = np.full((rows, length), PAD_ID, np.int32)
    for row, ids in zip(batch, sequences, strict=False):
        row[: len(ids)] = ids
    return batch
