"""The matrix product that rates are compared with."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from bytenet.profiling.benchmarks import peak
from bytenet.profiling.benchmarks.peak import MatrixProduct


@pytest.fixture
def multiplied(monkeypatch):
    """Factors and product of each matrix product."""
    calls, multiply = [], tf.matmul

    def noted(left, right):
        calls.append((left, right, multiply(left, right)))
        return calls[-1][-1]

    monkeypatch.setattr(tf, "matmul", noted)
    return calls


@pytest.fixture
def product(monkeypatch, multiplied):
    monkeypatch.setattr(peak, "_WIDTH", 8)
    return MatrixProduct()


def test_rate_comes_from_the_fastest_product(product, monkeypatch):
    readings = iter([0.0, 4.0, 4.0, 5.0, 5.0, 7.0])
    monkeypatch.setattr(peak, "time", SimpleNamespace(perf_counter=readings.__next__))
    assert product.measure(products=3) == 2 * 8**3 / 1.0


def test_products_are_correct_and_their_rate_is_positive(eagerly, product, multiplied):
    multiplied.clear()
    assert product.measure(products=3) > 0
    assert len(multiplied) == 3
    for left, right, outputs in multiplied:
        np.testing.assert_allclose(outputs, left.numpy() @ right.numpy(), rtol=1e-4, atol=1e-5)


def test_whole_matrix_product_is_computed(product, multiplied):
    """Not only the row with the number that is read."""
    [(_, _, outputs)] = multiplied
    (matmul,) = [operation for operation in outputs.graph.get_operations() if operation.type == "MatMul"]
    assert matmul.outputs[0].shape == (8, 8)
