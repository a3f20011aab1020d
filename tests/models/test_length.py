"""The length rule gives the same numbers for Python ints and for tensors."""

import math
from fractions import Fraction

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.models import LengthRule
from bytenet.models.length import PAIR_LENGTH

LENGTHS = np.arange(2001, dtype="int32")


@settings(max_examples=60)
@given(hundredths=st.integers(1, 500), offset=st.integers(0, 100))
def test_int_equals_tensor_equals_exact_fractions(hundredths, offset):
    rule = LengthRule(hundredths / 100, offset)
    by_ints = [rule(int(length)) for length in LENGTHS]
    assert by_ints == [math.ceil(Fraction(hundredths, 100) * int(length)) + offset for length in LENGTHS]
    by_tensor = rule(tf.constant(LENGTHS))
    assert by_tensor.dtype == tf.int32
    np.testing.assert_array_equal(by_tensor, by_ints)


@settings(max_examples=60)
@given(scale=st.floats(0.01, 5))
def test_any_scale_gives_one_number_for_ints_and_tensors(scale):
    rule = LengthRule(scale, 10)
    np.testing.assert_array_equal(rule(tf.constant(LENGTHS)), [rule(int(length)) for length in LENGTHS])


@pytest.mark.parametrize(("length", "expected"), [(0, 10), (1, 12), (5, 16), (7, 19), (50, 70), (100, 130)])
def test_unfolding_of_the_paper(length, expected):
    # 1.2 * 50 is 60 and not 61, as ceil(1.2 * 50) in floating point could have it.
    assert LengthRule(1.2, 10)(length) == expected


def test_rule_of_the_thesis_keeps_the_length():
    assert [PAIR_LENGTH(length) for length in range(100)] == list(range(100))
