"""The rows of a batch that one of several workers, or of several devices, trains on."""

from collections.abc import Callable
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

        return _map_tensors(batches, own)


def in_blocks(batches: tf.data.Dataset, blocks: int) -> tf.data.Dataset:
    """Equal blocks of rows of every batch, one after the other.

    Args:
        batches: any nest of tensors whose first axis is the rows, which are a multiple of `blocks`.
        blocks: of a batch.
    """
    if blocks == 1:
        return batches

    def block_by_block(rows: tf.Tensor) -> tf.Tensor:
        return tf.reshape(rows, tf.concat([[blocks, tf.shape(rows)[0] // blocks], tf.shape(rows)[1:]], axis=0))

    return _map_tensors(batches, block_by_block).unbatch()


def _map_tensors(batches: tf.data.Dataset, function: Callable[[tf.Tensor], tf.Tensor]) -> tf.data.Dataset:
    """Apply a function to every tensor of every batch."""
    # TensorFlow passes the parts of a tuple one by one, and everything else as one argument.
    return batches.map(lambda *batch: tf.nest.map_structure(function, batch if len(batch) > 1 else batch[0]))
