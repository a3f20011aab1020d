"""Which source symbols the symbols of given translations attend to."""

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from bytenet.decoding.batches.batching import BatchShapes
from bytenet.decoding.batches.pair_graphs import PairGraphs
from bytenet.errors import InputError
from bytenet.models.batch_rows import previous_symbols
from bytenet.models.translation_model import TranslationModel


class Aligner:
    """Computes alignments by one pass over source and translation. A graph is kept for each shape.

    Args:
        model: a model with attention.
        shapes: of the batches of pairs.

    Raises:
        InputError: the model has no attention.
    """

    def __init__(self, model: TranslationModel, shapes: BatchShapes):
        if not model.has_attention:
            raise InputError(f"{model.config.kind} has no attention, so it cannot align symbols.")

        def align(source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
            # In half precision, sums over a sentence would be wrong.
            return tf.cast(model.alignment(model.encode(source_ids), previous_symbols(target_ids)), tf.float32)

        self._graphs = PairGraphs(align, shapes)

    def __call__(self, source_ids: Sequence[np.ndarray], target_ids: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
        """Align pairs.

        Args:
            source_ids: int32 `(S,)` for each pair, with the end symbol.
            target_ids: int32 `(T,)` for each pair, with the end symbol if the translation has one.

        Yields:
            For each pair, in order, float32 `(T, S)`. Rows sum to 1, or to less if the model attends to padding, too.
        """
        alignments: list[np.ndarray | None] = [None] * len(source_ids)
        for batch, weights in self._graphs(source_ids, target_ids):
            for index, matrix in zip(batch, weights, strict=True):
                alignments[index] = matrix[: len(target_ids[index]), : len(source_ids[index])]
        yield from (alignment for alignment in alignments if alignment is not None)

    def make_graphs(self, longest: int) -> None:
        """Make the graphs of all batches of pairs of up to `longest` symbols in advance."""
        self._graphs.make_graphs(longest)
