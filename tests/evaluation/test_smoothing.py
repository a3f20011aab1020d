"""The exponentially weighted mean."""

import numpy as np
import pytest

from bytenet.evaluation import smooth


def test_smooth_is_the_bias_adjusted_weighted_mean():
    values, alpha = [3.0, 1.0, 4.0, 1.0, 5.0], 0.3
    expected = []
    for t in range(len(values)):
        weights = [(1 - alpha) ** i for i in range(t + 1)]
        expected.append(sum(w * values[t - i] for i, w in enumerate(weights)) / sum(weights))
    np.testing.assert_allclose(smooth(values, alpha), expected)


def test_smooth_gives_known_values():
    # pandas.Series([1., 2., 4.]).ewm(alpha=.5).mean()
    np.testing.assert_allclose(smooth([1, 2, 4], 0.5), [1, 5 / 3, 3])
    np.testing.assert_array_equal(smooth([1, 2, 4], 1), [1, 2, 4])
    assert smooth([], 0.1).shape == (0,)


def test_values_after_a_nan_are_nan():
    np.testing.assert_array_equal(smooth([1, np.nan, 2, 3], 0.5), [1, np.nan, np.nan, np.nan])


@pytest.mark.parametrize("alpha", [0, -0.1, 1.1])
def test_smooth_refuses_alpha_out_of_range(alpha):
    with pytest.raises(ValueError, match="alpha"):
        smooth([1.0], alpha)
