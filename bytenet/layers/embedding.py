"""Character embedding in which the padding symbol is the zero vector."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("bytenet")
class ZeroPaddedEmbedding(keras.layers.Layer):
    """A trained vector for every id except 0. The vector of id 0 is zero and stays zero.

    Id 0 is padding and, before the first target character, the start symbol.

    Mask: padded steps become zero vectors. The layer creates no Keras mask.

    Args:
        vocab_size: number of ids V; the table has V − 1 rows.
        dim: width of a vector.
        initializer: for the table `(vocab_size - 1, dim)`.

    Input: int32 of any shape, values in [0, vocab_size). Output: float `(*input shape, dim)`.

    Reference:
        Madsen 2017, section 2.6.3.
    """

    def __init__(self, vocab_size: int, dim: int, initializer="random_normal", **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.vocab_size = vocab_size
        self.dim = dim
        self.initializer = keras.initializers.get(initializer)

    def build(self, input_shape):
        shape = (self.vocab_size - 1, self.dim)
        self.table = self.add_weight(name="table", shape=shape, initializer=self.initializer, autocast=False)

    def call(self, ids):
        return ops.take(ops.cast(self.rows(), self.compute_dtype), ids, axis=0)

    def rows(self):
        """The vectors of all ids, `(vocab_size, dim)`, float32 even in mixed precision. Row 0 is zero."""
        return ops.pad(ops.convert_to_tensor(self.table), [[1, 0], [0, 0]])

    def compute_output_shape(self, input_shape):
        return (*input_shape, self.dim)

    def get_config(self):
        return super().get_config() | {
            "vocab_size": self.vocab_size,
            "dim": self.dim,
            "initializer": keras.initializers.serialize(self.initializer),
        }
