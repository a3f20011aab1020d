"""Verdicts, compared with values calculated by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytenet.evaluation.t_intervals import difference_of_means, student_t
from bytenet.reproduction.engine.judging import compare, compare_exact, comparison, difference, mean_of, statement
from bytenet.reproduction.engine.number_format import interval_text, number_text
from bytenet.reproduction.engine.statistics import RATE, clip, holm
from bytenet.reproduction.engine.verdict import Verdict

# Mean 3 and standard deviation sqrt(2.5). Student's t for 4 degrees of freedom is 2.7764 at 97.5 %.
_FIVE = [1, 2, 3, 4, 5]
_HALF = 2.776445 * math.sqrt(2.5)


@pytest.mark.parametrize(
    ("printed", "values", "lower_is_better", "tolerance", "outcome"),
    [
        (3, [3], None, 0, "agrees"),
        (3.1, [3], None, 0.1001, "agrees"),
        # A single training does not show which value is right or which settings are better.
        (3.2, [3], None, 0.1, "no claim"),
        (3.2, [3], True, 0.1, "no claim"),
        (2.8, [3], False, 0.1, "no claim"),
        (3, [3], True, 0, "no claim"),
        (99, [1, 2, 3, 4], True, 0, "no claim"),
        (7.8, _FIVE, None, 0, "agrees"),  # within 3 + 4.809, the range of one more run
        (7.9, _FIVE, None, 0, "not reproduced"),
        (7.9, _FIVE, True, 0, "better"),  # our own settings
        (7.9, _FIVE, False, 0, "worse"),
        (-1.9, _FIVE, True, 0, "worse"),
        (-1.9, _FIVE, False, 0, "better"),
        (3, _FIVE, True, 0, "no difference"),
        (-1.8, _FIVE, None, 0, "agrees"),
        (-1.9, _FIVE, None, 0, "not reproduced"),
        (-1.9, _FIVE, None, 4.95, "agrees"),
        (5, [1, 2, 3, 4], None, 0, "no claim"),  # four trainings are too few to predict one more
        (2.5, [1, 2, 3, 4], None, 0, "agrees"),
    ],
)
def test_compare_judges_printed_value_by_measured_values(printed, values, lower_is_better, tolerance, outcome):
    verdict = compare("error", printed, values, tolerance, lower_is_better=lower_is_better, note="why")
    assert verdict.outcome == outcome
    assert verdict.measured == sum(values) / len(values)
    assert (verdict.printed, verdict.seeds, verdict.note) == (printed, len(values), "why")
    assert verdict.interval == student_t(values)


@pytest.mark.parametrize(
    ("value", "tolerance", "outcome"),
    [(75, 0, "agrees"), (80, 0, "agrees"), (81, 0, "not reproduced"), (81, 1, "agrees"), (73, 1, "not reproduced")],
)
def test_a_range_agrees_if_a_value_in_it_does(value, tolerance, outcome):
    exact = compare_exact("length", (75, 80), value, tolerance)
    assert (exact.printed, exact.outcome) == ("75 to 80", outcome)
    trained = compare("length", (75, 80), [value], tolerance)
    assert (trained.printed, trained.outcome) == ("75 to 80", "agrees" if outcome == "agrees" else "no claim")


@pytest.mark.parametrize(("printed", "outcome"), [((7.8, 9), "agrees"), ((7.9, 9), "better"), ((-9, -1.9), "worse")])
def test_a_range_is_compared_with_one_more_training(printed, outcome):
    lower_is_better = None if outcome == "agrees" else True
    assert compare("error", printed, _FIVE, lower_is_better=lower_is_better).outcome == outcome


def test_mean_is_not_judged():
    verdict = mean_of("error", _FIVE, printed=3, note="why")
    assert (verdict.measured, verdict.interval, verdict.seeds) == (3, student_t(_FIVE), 5)
    assert (verdict.printed, verdict.outcome, verdict.note) == (3, "no claim", "why")


def test_intervals_are_clipped_to_the_limits_of_the_quantity():
    rates = [0.0, 0.0, 0.1, 0.0, 0.1]
    assert student_t(rates)[0] < 0
    assert compare("error", 0.5, rates, limits=RATE).interval[0] == 0
    assert statement("effect", "there", True, 0.04, rates, limits=RATE).interval[0] == 0
    assert mean_of("error", rates, limits=RATE).interval[0] == 0
    assert clip((-0.5, 1.5), RATE) == (0, 1)
    assert clip((-0.5, 1.5), None) == (-0.5, 1.5)
    assert clip(None, RATE) is None
    with pytest.raises(ValueError, match="outside the limits"):
        clip((-0.5, -0.1), RATE)


@pytest.mark.parametrize(
    ("printed", "value", "tolerance", "outcome"),
    [
        (3003, 3003, 0, "agrees"), (3003, 3002, 0, "not reproduced"),
        (0.5, 0.6, 0.1001, "agrees"), (0.5, 0.4, 0.1001, "agrees"), (0.5, 0.4, 0.09, "not reproduced"),
    ],
)  # fmt: skip
def test_a_value_without_training_is_exact(printed, value, tolerance, outcome):
    verdict = compare_exact("pairs", printed, value, tolerance, note="why", contradicts=True, source="a.tex:1")
    assert (verdict.outcome, verdict.measured, verdict.interval, verdict.seeds) == (outcome, value, None, 1)
    assert (verdict.printed, verdict.note, verdict.contradicts) == (printed, "why", True)


@pytest.mark.parametrize(("score", "outcome"), [(7.44, "same score"), (7.46, "other score")])
def test_rescored_author_translations_give_same_or_other_score(score, outcome):
    verdict = compare_exact("BLEU", 7.44, score, tolerance=0.005, evidence="rescored")
    assert (verdict.outcome, verdict.evidence) == (outcome, "rescored")


def test_contradiction_without_source_is_refused():
    with pytest.raises(ValueError, match="names no line of it"):
        statement("effect", "there is one", False, 1.0, contradicts=True)


def test_verdict_without_judgement_is_no_finding():
    finding = Verdict(
        quantity="effect", printed="there", measured=1, outcome="shown", contradicts=True, qualifies=True, note="b",
        source="a.tex:1",
    )  # fmt: skip
    unjudged = finding.unjudged("a")
    assert (unjudged.outcome, unjudged.contradicts, unjudged.qualifies) == ("no claim", False, False)
    assert unjudged.note == "a; b"


@pytest.mark.parametrize(
    ("shift", "claim", "outcome"),
    [
        (-10, "lower", "shown"), (10, "lower", "not shown"), (0, "lower", "not shown"),
        (10, "higher", "shown"), (-10, "higher", "not shown"),
        (0, "similar", "no claim"), (10, "similar", "not shown"), (-10, "similar", "not shown"),
    ],
)  # fmt: skip
def test_two_sets_of_trainings_are_compared_by_welch_interval(shift, claim, outcome):
    verdict = difference("A minus B", "A is other", [value + shift for value in _FIVE], _FIVE, claim)
    assert (verdict.outcome, verdict.measured, verdict.seeds) == (outcome, shift, 5)
    assert verdict.interval == difference_of_means([value + shift for value in _FIVE], _FIVE)
    for few in ([99.0], [99.0, 99.0], [-99.0, -99.0]):
        assert difference("A minus B", "A is other", few, _FIVE, claim).outcome == "no claim"


@pytest.mark.parametrize(
    ("differences", "claim", "outcome", "contradicts"),
    [
        ([2.0, 2.1, 2.2], "higher", "shown", False), ([2.0, 2.1, 2.2], "lower", "not shown", True),
        ([-2.0, -2.1, -2.2], "lower", "shown", False), ([-2.0, -2.1, -2.2], "higher", "not shown", True),
        ([0.1, 2.0, 4.0], "higher", "not shown", False),  # the mean alone would show it
        ([0.1, 2.0, 4.0], "lower", "not shown", False),
        # With one or two trainings of each model there is no claim, even if their values differ much.
        ([99.0], "higher", "no claim", False), ([99.0], "lower", "no claim", False),
        ([99.0, 99.0], "higher", "no claim", False),
    ],
)  # fmt: skip
def test_two_models_are_compared_by_at_least_three_trainings_of_each(differences, claim, outcome, contradicts):
    verdict = comparison("A minus B", "A is other", differences, claim, contradicts=True, source="a.tex:1")
    assert (verdict.outcome, verdict.contradicts, verdict.seeds) == (outcome, contradicts, len(differences))
    assert verdict.interval == student_t(differences)
    assert ("needs at least 3" in verdict.note) == (outcome == "no claim")


def test_comparison_in_words_has_no_interval_of_other_numbers():
    verdict = comparison("A, B", "A is faster", [-2.0, -2.1, -2.2], "lower", measured="epoch 2, epoch 4")
    assert (verdict.measured, verdict.interval, verdict.outcome) == ("epoch 2, epoch 4", None, "shown")


def test_holm_correction_matches_hand_calculation():
    # .01, .02, .03 are below .05/3, .05/2, .05/1, so all three pass. Of .01, .03, .04 only the first passes.
    assert holm({"a": 0.03, "b": 0.01, "c": 0.02}) == {"a", "b", "c"}
    assert holm({"a": 0.03, "b": 0.01, "c": 0.04}) == {"b"}
    assert holm({"a": 0.02}) == {"a"}
    assert holm({}) == set()


@given(values=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6))
def test_mean_always_agrees_with_itself(values):
    assert compare("any", sum(values) / len(values), values, tolerance=1e-6).outcome == "agrees"


@pytest.mark.parametrize(("holds", "outcome"), [(True, "shown"), (False, "not shown")])
def test_statement_outcome_follows_whether_it_holds(holds, outcome):
    verdict = statement(
        "effect", "there is one", holds, measured=3.0, values=_FIVE, contradicts=not holds, source="a.tex:1"
    )
    assert (verdict.outcome, verdict.seeds, verdict.contradicts) == (outcome, 5, not holds)
    assert verdict.interval == student_t(_FIVE)


def test_statement_may_have_words_as_measured_value():
    verdict = statement("effect", "there is one", True, measured="epoch 5, never")
    assert (verdict.measured, verdict.interval, verdict.seeds) == ("epoch 5, never", None, 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"), (3, "3"), (3.0, "3"), (-2.0, "-2"), (0.12345, "0.123"), (1.23456, "1.23"),
        (12.345, "12.35"), (1234.5678, "1234.57"), (0.00001234, "1.23e-05"),
        (float("nan"), "nan"), (float("inf"), "inf"),
    ],
)  # fmt: skip
def test_numbers_are_formatted_for_readers(value, text):
    assert number_text(value) == text


def test_intervals_are_formatted_for_readers():
    assert interval_text((0.1234, 12.0)) == "0.123 to 12"
    assert interval_text(None) == ""
