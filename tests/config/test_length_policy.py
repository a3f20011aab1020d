"""The length policy gives the same numbers for Python ints and for tensors."""

import math
from fractions import Fraction

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from bytenet.config import LengthPolicy
from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.config.families.recurrent import RecurrentConfig
from bytenet.config.families.transformer import TransformerConfig
from bytenet.errors import InputError

LENGTHS = np.arange(2001, dtype="int32")


@settings(max_examples=60)
@given(hundredths=st.integers(1, 500), offset=st.integers(0, 100))
def test_ints_and_tensors_give_the_same_lengths_as_exact_fractions(hundredths, offset):
    rule = LengthPolicy(scale=hundredths / 100, offset=offset).max_target_length
    by_ints = [rule(int(length)) for length in LENGTHS]
    assert by_ints == [math.ceil(Fraction(hundredths, 100) * int(length)) + offset for length in LENGTHS]
    by_tensor = rule(tf.constant(LENGTHS))
    assert by_tensor.dtype == tf.int32
    np.testing.assert_array_equal(by_tensor, by_ints)


@settings(max_examples=60)
@given(scale=st.floats(0.01, 5))
def test_any_scale_gives_the_same_lengths_for_ints_and_tensors(scale):
    rule = LengthPolicy(scale=scale, offset=10).max_target_length
    np.testing.assert_array_equal(rule(tf.constant(LENGTHS)), [rule(int(length)) for length in LENGTHS])


@pytest.mark.parametrize(("length", "expected"), [(0, 10), (1, 12), (5, 16), (7, 19), (50, 70), (100, 130)])
def test_paper_unfolding_gives_exact_lengths(length, expected):
    # 1.2 * 50 is 60. In floating point, ceil(1.2 * 50) could be 61.
    assert LengthPolicy(offset=10).max_target_length(length) == expected


def test_thesis_policy_adds_no_length_and_pads_to_the_pair():
    policy = LengthPolicy("pair", reads_padding=True)
    assert [policy.max_target_length(length) for length in range(100)] == list(range(100))
    assert policy.pads_to_pair
    assert policy.search_length(9, longest_target=4) == 9
    assert policy.lengths_to_pad_to([8, 16]) == [8, 16]


def test_paper_policy_unfolds_and_does_not_pad_to_the_pair():
    policy = LengthPolicy("unfold", scale=2.0, offset=1)
    assert not policy.pads_to_pair
    assert [policy.search_length(9, longest) for longest in (4, 30)] == [4, 19]
    assert policy.lengths_to_pad_to([8, 16]) is None


def test_arrays_get_the_limits_of_ints():
    lengths = np.arange(1, 200, dtype=np.int32)
    for policy in (LengthPolicy(), LengthPolicy(longest=100), LengthPolicy("pair", longest=7)):
        limits = policy.max_target_length(lengths)
        assert limits.dtype == np.int32
        assert limits.tolist() == [policy.max_target_length(length) for length in lengths.tolist()]
    assert LengthPolicy(longest=100).max_target_length(90) == 100


def test_lengths_beyond_the_longest_are_refused():
    LengthPolicy().check(10_000)
    LengthPolicy(longest=10).check(10)
    with pytest.raises(InputError, match=r"at most 10 symbols, but 11 .* Choose a shorter length"):
        LengthPolicy(longest=10).check(11)


@pytest.mark.parametrize("config", [TransformerConfig, ConvS2SConfig, RecurrentConfig])
def test_other_families_never_pad_sources_to_the_pair(config):
    policy = config(unfold_scale=1.0, unfold_offset=50).length_policy
    assert not policy.pads_to_pair
    assert not policy.reads_padding
    assert policy.max_target_length(100) == 150  # as in the Transformer's paper
    with pytest.raises(ValueError, match="length_rule"):
        config(length_rule="pair")
