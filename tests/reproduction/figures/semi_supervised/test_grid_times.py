"""Figure 3.6.2: verdicts on times."""

import pytest

from .grid_tables import TIMES, table, verdict


def test_hours_and_ratio_of_steps_follow_from_the_times():
    found = TIMES.verdicts(table(seconds=60.0), "cpu")
    hours = verdict(found, "hours for 135 trainings of the grid's 135, defaults")
    assert hours.printed == pytest.approx(136.8, abs=0.05)
    assert hours.measured == pytest.approx(136.8 / 60 / 2, abs=0.01)  # two at a time
    assert (hours.outcome, hours.evidence) == ("no claim", "measured, other hardware")
    assert "the steps alone, by their median time, 0.07" in hours.note  # 136.8 / 1000 / 2
    ratio = verdict(found, "time of a step with unlabelled text, divided by the time of one without, thesis settings")
    assert ratio.measured == pytest.approx(5.6, abs=0.1)
    assert (ratio.seeds, ratio.outcome) == (5, "no claim")
    assert "; the author's data: 5.61, of whole trainings; " in ratio.note
    assert "64: 5.51, 128: 5.65, 256: 5.67" in ratio.note


@pytest.mark.parametrize(("factor", "outcome"), [(1, "shown"), (2, "not shown")])
def test_expected_ten_times_are_compared_with_the_whole_interval(factor, outcome):
    rows = table()
    for row in rows:
        row["step_ms"] *= factor if row["unlabelled"] else 1
    expected = verdict(TIMES.verdicts(rows, "cpu"), "below the expected 10 times, defaults")
    assert (expected.outcome, expected.evidence) == (outcome, "measured, other hardware")
    one = [row for row in rows if row["trial"] == 1]
    assert not any("below the expected" in found.quantity for found in TIMES.verdicts(one, "cpu"))


def test_step_times_with_1024_and_512_unlabelled_texts_are_compared():
    same = verdict(
        TIMES.verdicts(table(), "cpu"), "1,024 unlabelled texts, divided by the time of one with 512, defaults"
    )
    assert (same.seeds, same.outcome) == (5, "shown")
    assert same.measured == pytest.approx(1.0, abs=0.02)  # the author's own times
    assert same.note.endswith("the author's data, whole trainings by number of pairs: 1.01 to 1.03")
    slower = table()
    for row in slower:
        row["step_ms"] *= 1.2 if row["unlabelled"] == 1024 else 1
    slower = verdict(
        TIMES.verdicts(slower, "cpu"), "1,024 unlabelled texts, divided by the time of one with 512, defaults"
    )
    assert slower.outcome == "not shown"
    assert slower.measured == pytest.approx(1.2 * same.measured)


def test_times_of_two_processors_are_reported_but_not_compared():
    rows = table(settings=["default"])
    for row in rows:
        if row["trial"] == 1 or (row["trial"] == 2 and row["unlabelled"]):
            row |= {"processor": "fast", "step_ms": row["step_ms"] / 10}
    found = TIMES.verdicts(rows, "cpu")
    assert verdict(found, "hours").note.startswith("2 at a time on fast and slow;")
    ratio = verdict(found, "time of a step with unlabelled text, divided by the time of one without, defaults")
    assert ratio.seeds == 4  # the second trial cannot be compared
    assert ratio.measured == pytest.approx(5.6, abs=0.1)


def test_partial_times_are_compared_with_the_same_part_of_thesis():
    part = table(keep=lambda row: row["trial"] == 1 and row["labelled"] == 64 and row["weight"] == 0.2, seconds=3600)
    found = TIMES.verdicts(part, "cpu")
    hours = verdict(found, "hours for 3 trainings of the grid's 135, thesis settings")
    assert hours.measured == pytest.approx(hours.printed / 2)
    assert (
        verdict(found, "time of a step with unlabelled text, divided by the time of one without, defaults").seeds == 1
    )


def test_sizes_without_a_common_trial_are_not_combined():
    part = table(keep=lambda row: (row["labelled"], row["trial"]) in ((64, 1), (128, 2)))
    assert not [verdict for verdict in TIMES.verdicts(part, "cpu") if "time of a step" in verdict.quantity]
