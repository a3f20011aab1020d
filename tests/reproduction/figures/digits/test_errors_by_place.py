"""The errors in translated numbers, counted by the place of the digit."""

from bytenet.reproduction.figures.digits.errors_by_place import errors_by_place
from bytenet.reproduction.registry import find_experiment

EXPERIMENT = find_experiment("digits-by-place")
PARTS = ("whole number", "first digit", "second digit", "third digit")


def counted(targets, translations):
    rows = errors_by_place(targets, translations)
    assert tuple(row["part"] for row in rows) == PARTS
    return [(row["wrong"], row["numbers"]) for row in rows]


def test_each_wrong_digit_counts_at_its_place():
    assert counted(["104", "156", "16"], ["104", "150", "68"]) == [(2, 3), (1, 3), (1, 3), (1, 2)]


def test_a_missing_digit_is_wrong_and_one_too_many_only_in_the_whole():
    assert counted(["104", "16"], ["10", "163"]) == [(2, 2), (0, 2), (0, 2), (1, 1)]
    assert counted(["104"], [""]) == [(1, 1), (1, 1), (1, 1), (1, 1)]


def table(*shares_of_third):
    """Ten numbers for each seed. The first digit is never wrong."""
    return [
        {"seed": seed, "part": part, "numbers": 10, "wrong": wrong}
        for seed, third in enumerate(shares_of_third, start=1)
        for part, wrong in zip(PARTS, (third, 0, 1, third), strict=True)
    ]


def test_later_digits_have_more_errors_only_if_the_whole_interval_is_above_zero():
    [right, late] = EXPERIMENT.verdicts(table(5, 6, 5, 6, 5), "cpu")
    assert (late.outcome, round(late.measured, 3), late.seeds) == ("shown", 0.54, 5)
    assert (right.outcome, round(right.measured, 3)) == ("no claim", 0.46)
    assert EXPERIMENT.verdicts(table(5, 6, 0, 6, 1), "cpu")[1].outcome == "shown"
    assert EXPERIMENT.verdicts(table(0, 0, 1, 0, 0), "cpu")[1].outcome == "not shown"
    assert EXPERIMENT.verdicts(table(5), "cpu")[1].outcome == "no claim"
