"""The length policy gives the same numbers for Python ints and for tensors."""

import math
from fractions import Fraction

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.config import LengthPolicy

LENGTHS = np.arange(2001, dtype="int32")


@settings(max_examples=60)
@given(hundredths=st.integers(1, 500), offset=st.integers(0, 100))
def test_int_equals_tensor_equals_exact_fractions(hundredths, offset):
    rule = LengthPolicy(scale=hundredths / 100, offset=offset).max_target_length
    by_ints = [rule(int(length)) for length in LENGTHS]
    assert by_ints == [math.ceil(Fraction(hundredths, 100) * int(length)) + offset for length in LENGTHS]
    by_tensor = rule(tf.constant(LENGTHS))
    assert by_tensor.dtype == tf.int32
    np.testing.assert_array_equal(by_tensor, by_ints)


@settings(max_examples=60)
@given(scale=st.floats(0.01, 5))
def test_any_scale_gives_one_number_for_ints_and_tensors(scale):
    rule = LengthPolicy(scale=scale, offset=10).max_target_length
    np.testing.assert_array_equal(rule(tf.constant(LENGTHS)), [rule(int(length)) for length in LENGTHS])


@pytest.mark.parametrize(("length", "expected"), [(0, 10), (1, 12), (5, 16), (7, 19), (50, 70), (100, 130)])
def test_unfolding_of_the_paper(length, expected):
    # 1.2 * 50 is 60 and not 61, as ceil(1.2 * 50) in floating point could have it.
    assert LengthPolicy(offset=10).max_target_length(length) == expected


def test_policy_of_the_thesis():
    policy = LengthPolicy("pair", reads_padding=True)
    assert [policy.max_target_length(length) for length in range(100)] == list(range(100))
    assert policy.pads_to_pair
    assert policy.search_length(9, longest_target=4) == 9
    assert policy.lengths_to_pad_to([8, 16]) == [8, 16]


def test_policy_of_the_paper():
    policy = LengthPolicy("unfold", scale=2.0, offset=1)
    assert not policy.pads_to_pair
    assert [policy.search_length(9, longest) for longest in (4, 30)] == [4, 19]
    assert policy.lengths_to_pad_to([8, 16]) is None
