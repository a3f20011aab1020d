"""Student's t intervals of means over trainings, and Welch's test of two means."""

import math
import statistics
from collections.abc import Sequence

FEWEST_TO_COMPARE = 3
"""With fewer trainings of each, two models are not compared: their spread is hardly known.

Reference:
    Clark et al. 2011, "Better Hypothesis Testing for Statistical Machine Translation: Controlling for Optimizer
    Instability".
"""


def student_t(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % confidence interval of the mean of `values` (Student's t). None for fewer than two values."""
    return _around_mean(values, 1 / len(values)) if len(values) > 1 else None


def next_value(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % prediction interval for one more value like `values`. None for fewer than two values.

    The thesis trained most models once. Its value agrees with ours if it lies in this interval.
    """
    return _around_mean(values, 1 + 1 / len(values)) if len(values) > 1 else None


def difference_of_means(a: Sequence[float], b: Sequence[float]) -> tuple[float, float] | None:
    """Welch's 95 % interval of the mean of `a` minus the mean of `b`.

    Returns:
        The interval; None if one of them has fewer than two values.
    """
    if min(len(a), len(b)) < 2:
        return None
    difference = statistics.fmean(a) - statistics.fmean(b)
    return t_interval(difference, [(statistics.variance(sample) / len(sample), len(sample) - 1) for sample in (a, b)])


def p_of_difference(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Two-sided p-value of Welch's test that `a` and `b` have the same mean.

    It is below .05 exactly if `difference_of_means` does not contain 0.

    Returns:
        The p-value; None if one of them has fewer than two values.
    """
    if min(len(a), len(b)) < 2:
        return None
    from scipy.stats import ttest_ind_from_stats

    means, deviations = ([measure(sample) for sample in (a, b)] for measure in (statistics.fmean, statistics.stdev))
    if not any(deviations):
        return float(means[0] == means[1])
    (mean_a, mean_b), (deviation_a, deviation_b) = means, deviations
    test = ttest_ind_from_stats(mean_a, deviation_a, len(a), mean_b, deviation_b, len(b), equal_var=False)
    return float(test.pvalue)


def t_interval(estimate: float, variances: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """95 % interval around an estimate whose variance is a sum of independent parts.

    Args:
        estimate: the middle of the interval.
        variances: each part of the variance, with its degrees of freedom.

    Reference:
        Satterthwaite 1946, "An Approximate Distribution of Estimates of Variance Components"; for the difference of
        two means this is Welch 1947, "The Generalization of 'Student's' Problem when Several Different Population
        Variances are Involved".
    """
    total = sum(variance for variance, _ in variances)
    if not total:
        return estimate, estimate
    freedom = total**2 / sum(variance**2 / degrees for variance, degrees in variances if variance)
    half = _quantile(freedom) * math.sqrt(total)
    return estimate - half, estimate + half


def _around_mean(values: Sequence[float], share_of_variance: float) -> tuple[float, float]:
    """95 % interval around the mean of values.

    Args:
        values: at least two.
        share_of_variance: variance that the interval covers, as a multiple of the variance of a single value.
    """
    half = _quantile(len(values) - 1) * statistics.stdev(values) * math.sqrt(share_of_variance)
    mean = statistics.fmean(values)
    return mean - half, mean + half


def _quantile(freedom: float) -> float:
    """The quantile of Student's t at the upper end of a 95 % interval."""
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))
