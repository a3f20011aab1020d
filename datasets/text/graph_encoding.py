"""Characters to ids and back in a TensorFlow graph."""

import numpy as np
import tensorflow as tf

from bytenet.datasets.text.characters import blank_code_points
from bytenet.datasets.text.normalisation import normalise_graph
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.lite.characters import EOS_ID, PAD_ID, REPLACEMENT, UNKNOWN_ID


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
    places, known = _look_up(flat, vocabulary.code_points)
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


def is_blank_graph(strings: tf.Tensor) -> tf.Tensor:
    """Whether strings show nothing, as `is_blank` says: tf.string `(batch,)` → bool `(batch,)`."""
    points = tf.strings.unicode_decode(strings, "UTF-8")
    _, blank = _look_up(points.flat_values, blank_code_points())
    return tf.reduce_all(points.with_flat_values(blank), axis=1)


def decode_graph(vocabulary: Vocabulary, ids: tf.Tensor) -> tf.Tensor:
    """Decode a batch of ids as `vocabulary.decode` does.

    Args:
        vocabulary: of the ids.
        ids: int32 `(batch, length)`. After the end symbol, if there is one, there is only padding.

    Returns:
        tf.string `(batch,)`, UTF-8.
    """
    # Padding and the end symbol are left out below.
    specials = [0] * vocabulary.first_id if vocabulary.unknown_id is None else [0, 0, ord(REPLACEMENT)]
    points = tf.gather(tf.constant(np.append(np.array(specials, np.int32), vocabulary.code_points)), ids)
    return tf.strings.unicode_encode(tf.ragged.boolean_mask(points, ids > EOS_ID), "UTF-8")


def _look_up(points: tf.Tensor, sorted_points: np.ndarray) -> tuple[tf.Tensor, tf.Tensor]:
    """The place of each code point in a sorted table, int32, and whether the table has it, bool."""
    # The last entry equals no code point. It keeps the look-up inside the table.
    table = tf.constant(np.append(sorted_points, np.int32(-1)))
    places = tf.searchsorted(table[:-1], points)
    return places, tf.equal(tf.gather(table, places), points)
