"""A function of sentence pairs, in batches of few shapes, so that few graphs are made."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import tensorflow as tf

from bytenet.decoding.batching import batches_by_length, pad_batch, padded_lengths, padded_sizes
from bytenet.decoding.graph_cache import GraphCache


class PairGraphs:
    """Applies a function to pairs of sequences. Both sides of a batch have the same length, as in training.

    The graph of each shape is kept. Several threads may share it.

    Args:
        function: of `source_ids` and `target_ids`, int32 `(rows, length)`, 0 where padded; its result has a row for
            each pair.
        longest: the length of the longest sequence that the model can read; None for no limit.
        batch_size: number of pairs in a batch.
        trained_lengths: the lengths that pairs were padded to in training, for a model that reads padding; None for
            a model that does not.
        row_factor: the numbers of rows of batches are powers of it, or `batch_size`.

    Raises:
        ValueError: `row_factor` is below 2.
    """

    def __init__(
        self,
        function: Callable[[tf.Tensor, tf.Tensor], tf.Tensor],
        longest: int | None,
        batch_size: int,
        trained_lengths: Sequence[int] | None,
        row_factor: int,
    ):
        self._batch_size, self._row_factor = batch_size, row_factor
        self._lengths = (trained_lengths, longest)
        self._numbers_of_rows = padded_sizes(batch_size, row_factor)
        traced = tf.function(function, autograph=False)

        def trace(rows: int, length: int) -> Callable[..., tf.Tensor]:
            ids = tf.TensorSpec([rows, length], tf.int32)
            return traced.get_concrete_function(ids, ids)

        self.graphs = GraphCache(trace)

    def __call__(
        self, source_ids: Sequence[np.ndarray], target_ids: Sequence[np.ndarray]
    ) -> Iterator[tuple[list[int], np.ndarray]]:
        """Apply the function to all pairs.

        Args:
            source_ids: int32 `(S,)` for each pair.
            target_ids: int32 `(T,)` for each pair.

        Yields:
            For each batch: which pairs it has, and their rows of the result.

        Raises:
            InputError: a sequence is too long for the model.
        """
        lengths = [max(map(len, pair)) for pair in zip(source_ids, target_ids, strict=True)]
        batches = batches_by_length(range(len(lengths)), lengths, self._batch_size, *self._lengths, self._row_factor)
        for batch, rows, length in batches:
            sides = [pad_batch([side[i] for i in batch], rows, length) for side in (source_ids, target_ids)]
            yield batch, self.graphs(rows, length)(*map(tf.constant, sides)).numpy()[: len(batch)]

    def make_graphs(self, longest: int) -> None:
        """Make the graphs of all batches of pairs of up to `longest` symbols in advance.

        Longer pairs than the model can read have none.
        """
        for length in padded_lengths(longest, *self._lengths):
            for rows in self._numbers_of_rows:
                self.graphs(rows, length)
