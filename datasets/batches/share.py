"""The rows of a batch that one of several workers trains on."""

from dataclasses import dataclass

import tensorflow as tf


@dataclass(frozen=True)
class Share:
    """One of equal blocks of rows of every batch.

    Attributes:
        workers: number of blocks.
        worker: which of them.
    """

    workers: int = 1
    worker: int = 0

    def of(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """The rows of this block.

        Args:
            batches: any nest of tensors whose first axis is the rows, which are a multiple of `workers`.
        """
        if self.workers == 1:
            return batches

        def own(rows: tf.Tensor) -> tf.Tensor:
            size = tf.shape(rows)[0] // self.workers
            return rows[self.worker * size : (self.worker + 1) * size]

        return batches.map(lambda *batch: tf.nest.map_structure(own, batch if len(batch) > 1 else batch[0]))
