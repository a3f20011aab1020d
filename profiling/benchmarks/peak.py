"""How fast this machine multiplies matrices: what any training step is measured against."""

import time

import tensorflow as tf

_WIDTH = 2048


class MatrixProduct:
    """The product of two float32 matrices of 2048 x 2048 numbers, on the first GPU or else on all cores.

    Only float32 arithmetic on that one device is to be measured against it: not the work of several GPUs, nor that
    in bfloat16, of which a machine can do more.

    A GPU that rounds the factors of such products to TensorFloat-32, as TensorFlow lets it by default, does so here
    as in training.

    It is as large as keeps a machine's arithmetic busy and small enough to be done between two measurements.
    Clouds and laptops change their speed within minutes, so a rate means little without the peak measured right
    before it; see `measure`.
    """

    def __init__(self):
        random = tf.random.Generator.from_seed(0)
        self._flops = 2 * _WIDTH**3
        self._left = random.normal((_WIDTH, _WIDTH))
        self._right = random.normal((_WIDTH, _WIDTH))
        # One number has to be read for a GPU to be waited for; the whole matrix would have to be copied.
        self._multiply = tf.function(lambda left, right: tf.matmul(left, right)[0, 0], autograph=False)
        self._seconds()  # traces it, and lets the library choose its way

    def _seconds(self) -> float:
        began = time.perf_counter()
        self._multiply(self._left, self._right).numpy()
        return time.perf_counter() - began

    def measure(self, products: int = 5) -> float:
        """Multiply so many times, at least once, now.

        Returns:
            The rate of the fastest, in floating point operations a second, two a multiply-add.
        """
        return self._flops / min(self._seconds() for _ in range(products))
