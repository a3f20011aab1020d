"""A function of sentence pairs, in batches of few shapes, so that few graphs are made."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import tensorflow as tf

from bytenet.decoding.batches.batching import BatchShapes, pad_batch
from bytenet.decoding.batches.graph_cache import GraphCache


class PairGraphs:
    """Applies a function to pairs of sequences. Both sides of a batch have the same length, as in training.

    The graph of each shape is kept. Several threads may share it.

    Args:
        function: of `source_ids` and `target_ids`, int32 `(rows, length)`, 0 where padded; its result has a row for
            each pair.
        shapes: of the batches.
    """

    def __init__(self, function: Callable[[tf.Tensor, tf.Tensor], tf.Tensor], shapes: BatchShapes):
        self._shapes = shapes
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
        for batch, rows, length in self._shapes.batches(lengths):
            sides = [pad_batch([side[i] for i in batch], rows, length) for side in (source_ids, target_ids)]
            yield batch, self.graphs(rows, length)(*map(tf.constant, sides)).numpy()[: len(batch)]

    def make_graphs(self, longest: int) -> None:
        """Make the graphs of all batches of pairs of up to `longest` symbols in advance.

        Longer pairs than the model can read have none.
        """
        for shape in self._shapes.up_to(longest):
            self.graphs(*shape)
