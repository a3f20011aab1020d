"""Batches as rows that are copied out of an array of ids."""

import tensorflow as tf


def padded_rows(
    ids: tf.Tensor, starts: tf.Tensor, texts: tf.Tensor, is_real: tf.Tensor, length: tf.Tensor
) -> tf.Tensor:
    """Copy texts out of an array of ids, each into a row.

    Args:
        ids: integers `(symbols,)`, text after text.
        starts: int64 `(texts + 1,)`: text i is `ids[starts[i]:starts[i + 1]]`.
        texts: int `(rows,)`, which texts.
        is_real: bool `(rows,)`. Other rows stay empty, and their numbers in `texts` are not read.
        length: of the result.

    Returns:
        int32 `(rows, length)`, padded with 0.
    """
    texts = tf.where(is_real, texts, 0)
    begin = tf.gather(starts, texts)
    end = tf.where(is_real, tf.gather(starts, texts + 1), begin)
    places = begin[:, tf.newaxis] + tf.range(tf.cast(length, tf.int64))  # (rows, length)
    inside = places < end[:, tf.newaxis]
    rows = tf.gather(ids, tf.where(inside, places, 0))
    return tf.where(inside, tf.cast(rows, tf.int32), 0)


def untuned(batches: tf.data.Dataset) -> tf.data.Dataset:
    """The dataset as it is, without TensorFlow's rewriting of the graph and without its tuning while it runs.

    No rewriting applies to these datasets, but TensorFlow copies the ids to try them. The thread that tunes the
    parallelism has nothing to gain with batches this cheap. Deleting an iterator can wait for it for up to a minute.
    """
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.autotune.enabled = False
    return batches.with_options(options)
