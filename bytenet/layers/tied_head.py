"""A linear head whose matrix is a table of embeddings."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("bytenet")
class TiedHead(keras.layers.Layer):
    """Logits as products with the embeddings of all symbols, plus a trained offset for each symbol.

    The embedding of id 0 is zero. Without an offset, its logit would stay 0, so padding would keep a probability.

    Args:
        vocab_size: number of ids V.

    Input: float `(..., dim)` and the table, float `(vocab_size, dim)`. Output: float `(..., vocab_size)`.

    Reference:
        Press and Wolf 2017; Vaswani et al. 2017, section 3.4.
    """

    def __init__(self, vocab_size: int, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, input_shape):
        self.bias = self.add_weight(name="bias", shape=(self.vocab_size,), initializer="zeros")

    def call(self, inputs, table):
        # One product of matrices. For more axes, TensorFlow's gradient makes a product for each step and adds them up.
        rows = ops.reshape(inputs, (-1, inputs.shape[-1]))
        logits = ops.matmul(rows, ops.transpose(table)) + self.bias
        return ops.reshape(logits, (*ops.shape(inputs)[:-1], self.vocab_size))

    def compute_output_shape(self, input_shape, table_shape):
        return (*input_shape[:-1], self.vocab_size)

    def get_config(self):
        return super().get_config() | {"vocab_size": self.vocab_size}
