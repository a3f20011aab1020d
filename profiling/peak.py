"""How fast this machine multiplies matrices: what any training step is measured against."""

import statistics
import time
from dataclasses import dataclass

import tensorflow as tf

_WIDTH = 2048
_FLOPS = 2 * _WIDTH**3


@dataclass(frozen=True)
class Peak:
    """Rate of products of two float32 matrices, in floating point operations a second, two a multiply-add.

    Attributes:
        best: of the products measured.
        median: of the same.
    """

    best: float
    median: float


class MatrixProduct:
    """The product of two float32 matrices of 2048 x 2048 numbers, on the first GPU or else on all cores.

    A GPU that rounds the factors of such products to TensorFloat-32, as TensorFlow lets it by default, does so here
    as in training.

    It is as large as keeps a machine's arithmetic busy and small enough to be done between two measurements.
    Clouds and laptops change their speed within minutes, so a rate means little without the peak measured right
    before it; see `measure`.
    """

    def __init__(self):
        random = tf.random.Generator.from_seed(0)
        self._left = random.normal((_WIDTH, _WIDTH))
        self._right = random.normal((_WIDTH, _WIDTH))
        # One number has to be read for a GPU to be waited for; the whole matrix would have to be copied.
        self._multiply = tf.function(lambda left, right: tf.matmul(left, right)[0, 0], autograph=False)
        self._seconds()  # traces it, and lets the library choose its way

    def _seconds(self) -> float:
        began = time.perf_counter()
        self._multiply(self._left, self._right).numpy()
        return time.perf_counter() - began

    def measure(self, products: int = 5) -> Peak:
        """Multiply so many times, at least once, now."""
        seconds = [self._seconds() for _ in range(products)]
        return Peak(best=_FLOPS / min(seconds), median=_FLOPS / statistics.median(seconds))
