"""Formatting of repeated measurements."""

from bytenet.profiling.benchmarks.measurement import Spread


def test_spread_uses_the_given_number_format():
    seconds = Spread.of([3.0, 1.0, 2.25])
    assert f"{seconds:.1f}" == "2.2 (1.0 to 3.0)"
    assert str(seconds.scaled(1000)) == f"{seconds.scaled(1000)}" == "2250 (1000 to 3000)"


def test_spread_of_one_measurement_is_a_single_number():
    assert f"{Spread.of([17234.6]):,.0f}" == "17,235"
    assert str(Spread.of([0.5])) == "0.5"
