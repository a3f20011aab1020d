"""Batches of few distinct shapes, since every new shape of a graph is traced and compiled again."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np

from bytenet.datasets import PAD_ID

_SHORTEST = 32


def padded_size(size: int, smallest: int = 1) -> int:
    """The least of `smallest`, 2 · `smallest`, 4 · `smallest`, ... that is not below `size`."""
    while smallest < size:
        smallest *= 2
    return smallest


def padded_length(length: int) -> int:
    """The length that sequences of up to `length` symbols are padded to: 32, 64, 128, ..."""
    return padded_size(length, _SHORTEST)


def pad_batch(sequences: Sequence[np.ndarray], rows: int, length: int) -> np.ndarray:
    """Id sequences as int32 `(rows, length)`, 0 where there is nothing."""
    batch = np.full((rows, length), PAD_ID, np.int32)
    for row, ids in zip(batch, sequences, strict=False):
        row[: len(ids)] = ids
    return batch


def batches_by_length(
    indices: Iterable[int], lengths: Sequence[int], batch_size: int, trained_lengths: Sequence[int] | None = None
) -> Iterator[tuple[list[int], int, int]]:
    """Put together sequences of like length.

    Args:
        indices: which sequences.
        lengths: of all sequences, by index.
        batch_size: most sequences a batch.
        trained_lengths: what the sequences of the training were padded to, ascending; for models that read padding.

    Yields:
        The indices of one batch, shortest sequence first; how many rows to pad it to: the least power of two that is
        enough, but at most `batch_size`; and the length to pad it to: as `padded_length` has it or, for every sequence
        of the batch, as in training.
    """
    in_order = sorted(indices, key=lambda index: lengths[index])

    def trained_length(index: int) -> int | None:
        if trained_lengths is None:
            return None
        own = lengths[index]
        return next((length for length in trained_lengths if length >= own), own)  # longer than any: as it is

    for trained, of_length in groupby(in_order, trained_length):
        group = list(of_length)
        for start in range(0, len(group), batch_size):
            batch = group[start : start + batch_size]
            yield batch, min(batch_size, padded_size(len(batch))), trained or padded_length(lengths[batch[-1]])
