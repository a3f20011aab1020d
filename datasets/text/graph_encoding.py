"""Characters to ids in a TensorFlow graph."""

import numpy as np
import tensorflow as tf

from bytenet.datasets.text.normalisation import normalise_graph
from bytenet.datasets.text.vocabulary import EOS_ID, PAD_ID, UNKNOWN_ID, Vocabulary


def encode_graph(vocabulary: Vocabulary, strings: tf.Tensor, length: int | tf.Tensor | None = None) -> tf.Tensor:
    """Encode a batch of strings as `vocabulary.encode` does.

    Args:
        vocabulary: of the strings.
        strings: tf.string `(batch,)`, UTF-8.
        length: padded length of the result. Longer rows are cut. None takes the length of the longest row.

    Returns:
        int32 `(batch, length)`, padded with 0.

    Raises:
        tf.errors.InvalidArgumentError: when run, with `unknown="error"`, for an unknown character.
    """
    points = tf.strings.unicode_decode(normalise_graph(strings), "UTF-8")  # ragged (batch, characters)
    flat = points.flat_values
    # The last entry equals no code point. It keeps the look-up below inside the table.
    table = tf.constant(np.append(vocabulary.code_points, np.int32(-1)))
    places = tf.searchsorted(table[:-1], flat)
    known = tf.equal(tf.gather(table, places), flat)
    if vocabulary.unknown == "error":
        message = ["Characters that are not in the vocabulary (code points):"]
        message.append(tf.boolean_mask(flat, tf.logical_not(known)))
        with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(known), message)]):
            places = tf.identity(places)
    ids = points.with_flat_values(tf.where(known, places + vocabulary.first_id, UNKNOWN_ID))
    if vocabulary.unknown == "drop":
        ids = tf.ragged.boolean_mask(ids, points.with_flat_values(known))
    ends = tf.fill([tf.shape(strings)[0], 1], EOS_ID)
    ended = tf.concat([ids, ends], axis=1)
    shape = None if length is None else tf.stack([tf.shape(strings)[0], length])
    return ended.to_tensor(PAD_ID, shape=shape)
