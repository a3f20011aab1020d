"""The product of matrices that rates are measured against."""

import numpy as np
import pytest

from bytenet.profiling.benchmarks import peak
from bytenet.profiling.benchmarks.peak import MatrixProduct


@pytest.fixture
def product(monkeypatch):
    monkeypatch.setattr(peak, "_WIDTH", 8)
    return MatrixProduct()


def test_the_rate_is_of_the_operations_of_the_fastest_product(product, monkeypatch):
    seconds = iter([4.0, 1.0, 2.0])
    monkeypatch.setattr(product, "_seconds", lambda: next(seconds))
    assert product.measure(products=3) == 2 * 8**3 / 1.0


def test_it_multiplies_and_is_waited_for(product):
    expected = product._left.numpy() @ product._right.numpy()
    np.testing.assert_allclose(product._multiply(product._left, product._right), expected[0, 0], rtol=1e-4)
    assert product._seconds() > 0


def test_the_whole_product_is_computed(product):
    """Not the row alone of which one number is read."""
    graph = product._multiply.get_concrete_function(product._left, product._right).graph
    (matmul,) = [operation for operation in graph.get_operations() if operation.type == "MatMul"]
    assert matmul.outputs[0].shape == (8, 8)
