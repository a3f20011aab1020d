"""Student's t intervals, compared with values calculated by hand."""

import math

import pytest
from scipy.stats import ttest_ind

from bytenet.evaluation.t_intervals import difference_of_means, next_value, p_of_difference, student_t, t_interval

# Mean 3 and standard deviation sqrt(2.5). Student's t for 4 degrees of freedom is 2.7764 at 97.5 %.
_FIVE = [1, 2, 3, 4, 5]
_HALF = 2.776445 * math.sqrt(2.5)


def test_student_t_interval_matches_hand_calculation():
    assert student_t(_FIVE) == pytest.approx((3 - _HALF / math.sqrt(5), 3 + _HALF / math.sqrt(5)), rel=1e-6)
    # Two values: 1 degree of freedom, t = 12.7062.
    assert student_t([0, 2]) == pytest.approx((1 - 12.7062, 1 + 12.7062), rel=1e-5)


def test_interval_of_next_value_is_wider_than_interval_of_mean():
    half = _HALF * math.sqrt(1 + 1 / 5)
    assert next_value(_FIVE) == pytest.approx((3 - half, 3 + half), rel=1e-6)


def test_difference_of_means_uses_welch_interval():
    # Means 3 and 6, variances of the means 0.5 and 2: 2.5**2 / (0.5**2 / 4 + 2**2 / 4) = 5.88 degrees of freedom.
    half = 2.458824 * math.sqrt(2.5)
    assert difference_of_means(_FIVE, [2, 4, 6, 8, 10]) == pytest.approx((-3 - half, -3 + half), rel=1e-5)
    assert difference_of_means([1, 1], [3, 3]) == (-2, -2)
    assert difference_of_means([1], _FIVE) is difference_of_means(_FIVE, [1]) is None


def test_p_of_difference_is_that_of_scipy():
    others = [2, 4, 6, 8, 10]
    assert p_of_difference(_FIVE, others) == pytest.approx(ttest_ind(_FIVE, others, equal_var=False).pvalue)
    assert p_of_difference(others, _FIVE) == p_of_difference(_FIVE, others)
    assert (p_of_difference([1, 1], [3, 3]), p_of_difference([1, 1], [1, 1])) == (0, 1)
    assert p_of_difference([1], _FIVE) is p_of_difference(_FIVE, [1]) is None


@pytest.mark.parametrize("interval", [student_t, next_value])
def test_single_seed_has_no_interval(interval):
    assert interval([3.0]) is None


def test_parts_of_a_variance_share_their_degrees_of_freedom():
    # 3**2 / (1**2 / 2 + 2**2 / 8) = 9 degrees of freedom, t = 2.262157.
    half = 2.262157 * math.sqrt(3)
    assert t_interval(10, [(1, 2), (2, 8)]) == pytest.approx((10 - half, 10 + half), rel=1e-6)
    assert t_interval(10, [(1, 2), (2, 8), (0, 0)]) == t_interval(10, [(1, 2), (2, 8)])
    assert t_interval(10, [(0, 4)]) == (10, 10)
