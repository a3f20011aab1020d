"""The embedding that maps id 0 to the zero vector."""

import keras
import numpy as np
import tensorflow as tf
from keras.ops import convert_to_numpy

from bytenet.layers import ZeroPaddedEmbedding


def test_embedding_looks_up_rows_and_gives_zeros_for_padding():
    layer = ZeroPaddedEmbedding(5, 3)
    ids = np.array([[1, 4, 0], [0, 2, 3]], "int32")
    outputs = convert_to_numpy(layer(ids))
    table = np.concatenate([np.zeros((1, 3)), convert_to_numpy(layer.table)])
    np.testing.assert_array_equal(outputs, table[ids].astype("float32"))
    assert np.all(table[1:] != 0)
    assert layer.compute_output_shape((2, 3)) == (2, 3, 3)


def test_ids_may_have_any_shape():
    layer = ZeroPaddedEmbedding(5, 3)
    assert layer(np.array([1, 2], "int32")).shape == (2, 3)
    assert layer(np.zeros((2, 3, 4), "int32")).shape == (2, 3, 4, 3)


def test_zero_vector_stays_zero_after_an_optimiser_step():
    layer = ZeroPaddedEmbedding(5, 3)
    ids = np.array([[0, 1], [0, 3]], "int32")
    layer(ids)
    before = convert_to_numpy(layer.table)
    optimizer = keras.optimizers.Adam(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(ids) ** 2 + layer(ids))
    optimizer.apply([tape.gradient(loss, layer.table.value)], layer.trainable_variables)
    outputs = convert_to_numpy(layer(np.arange(5, dtype="int32")))
    np.testing.assert_array_equal(outputs[0], np.zeros(3))
    moved = np.any(outputs[1:] != before, axis=-1)
    assert moved.tolist() == [True, False, True, False]  # ids 1 and 3 were used


def test_table_of_a_tied_head_is_exact_in_mixed_precision():
    layer = ZeroPaddedEmbedding(5, 3, dtype="mixed_bfloat16")

    class Model(keras.Model):
        def call(self, ids):
            return layer(ids), layer.rows()

    embedded, rows = Model(dtype="mixed_bfloat16")(np.array([[1, 4, 0]], "int32"))
    assert (keras.backend.standardize_dtype(embedded.dtype), rows.dtype) == ("bfloat16", tf.float32)
    np.testing.assert_array_equal(rows[1:], layer.table.numpy())


def test_number_of_weights_does_not_count_padding():
    layer = ZeroPaddedEmbedding(28, 20)
    layer.build((None, None))
    assert layer.count_params() == 27 * 20


def test_configuration_round_trip():
    layer = ZeroPaddedEmbedding(5, 3, "glorot_uniform", name="embedding")
    assert ZeroPaddedEmbedding.from_config(layer.get_config()).get_config() == layer.get_config()
