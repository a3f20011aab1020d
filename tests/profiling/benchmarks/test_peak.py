"""The matrix product that rates are compared with."""

import numpy as np
import pytest

from bytenet.profiling.benchmarks import peak
from bytenet.profiling.benchmarks.peak import MatrixProduct


@pytest.fixture
def product(monkeypatch):
    monkeypatch.setattr(peak, "_WIDTH", 8)
    return MatrixProduct()


def test_rate_comes_from_the_fastest_product(product, monkeypatch):
    seconds = iter([4.0, 1.0, 2.0])
    monkeypatch.setattr(product, "_seconds", lambda: next(seconds))
    assert product.measure(products=3) == 2 * 8**3 / 1.0


def test_product_is_correct_and_its_time_is_positive(product):
    expected = product._left.numpy() @ product._right.numpy()
    np.testing.assert_allclose(product._multiply(product._left, product._right), expected[0, 0], rtol=1e-4)
    assert product._seconds() > 0


def test_whole_matrix_product_is_computed(product):
    """Not only the row with the number that is read."""
    graph = product._multiply.get_concrete_function(product._left, product._right).graph
    (matmul,) = [operation for operation in graph.get_operations() if operation.type == "MatMul"]
    assert matmul.outputs[0].shape == (8, 8)
