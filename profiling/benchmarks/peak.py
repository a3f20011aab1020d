"""How fast this machine multiplies matrices. The rate of a training step is compared with it."""

import time

import tensorflow as tf

_WIDTH = 2048


class MatrixProduct:
    """The product of two float32 matrices of 2048 x 2048 numbers, on the first GPU or else on all cores.

    Only float32 arithmetic on one device compares with it. Several GPUs do more, and so does bfloat16. If a GPU rounds
    the factors to TensorFloat-32, which TensorFlow allows by default, it does so here and in training.

    The matrices are large enough to keep the machine busy, and small enough to be multiplied between two measurements.
    Clouds and laptops change their speed within minutes. So a rate should be compared with a peak that was measured
    right before it; see `measure`.
    """

    def __init__(self):
        random = tf.random.Generator.from_seed(0)
        self._flops = 2 * _WIDTH**3
        self._left = random.normal((_WIDTH, _WIDTH))
        self._right = random.normal((_WIDTH, _WIDTH))
        # Reading one number waits for a GPU to finish. Reading the matrix would copy all of it.
        self._multiply = tf.function(lambda left, right: tf.matmul(left, right)[0, 0], autograph=False)
        self._seconds()  # traces the function, and lets the library choose its algorithm

    def _seconds(self) -> float:
        began = time.perf_counter()
        self._multiply(self._left, self._right).numpy()
        return time.perf_counter() - began

    def measure(self, products: int = 5) -> float:
        """Multiply several times now.

        Args:
            products: how many times, at least 1.

        Returns:
            The rate of the fastest product, in floating point operations a second. A multiply-add is two operations.
        """
        return self._flops / min(self._seconds() for _ in range(products))
