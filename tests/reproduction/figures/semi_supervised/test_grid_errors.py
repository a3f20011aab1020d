"""Figure 3.6.1: verdicts on errors."""

import pytest
from scipy.stats import ttest_rel

from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.figures.semi_supervised.baseline_runs import ATTENTION, FORMS
from bytenet.reproduction.figures.semi_supervised.grid_runs import (
    LABELLED,
    SETTINGS,
    cells,
    thesis_rows,
)

from .grid_tables import ERRORS, NO_BASELINE, table, verdict


def test_numbers_of_the_thesis_agree_with_the_thesis():
    found = ERRORS.verdicts(table(), "cpu", NO_BASELINE)
    means = [verdict for verdict in found if "labelled" in verdict.quantity and "means" in verdict.quantity]
    assert len(means) == 2 * 2 * len(LABELLED)  # both settings, with and without text
    assert all(verdict.printed == verdict.measured and verdict.seeds == 5 for verdict in means)
    for verdict_of_means in means:
        assert verdict_of_means.outcome == ("agrees" if "thesis" in verdict_of_means.quantity else "no difference")
    # SciPy's ttest_rel on each of the 18 cells.
    for words in SETTINGS.values():
        helps = verdict(found, f"lowers the error, {words}")
        assert (helps.measured, helps.outcome) == (12, "no claim")
        assert helps.note.startswith("18 tests without a correction for their number; 12 by the same test on the ")
        assert "by weight .2: 6, .1: 5, .01: 1; 5 trials each" in helps.note
    assert verdict(found, "cells with unlabelled text whose error agrees").measured == 18
    assert verdict(found, "cells without unlabelled text whose error agrees").measured == 9
    lower = verdict(found, "cells with unlabelled text whose error is significantly lower")
    assert (lower.measured, lower.outcome) == (0, "no claim")


def test_sequences_of_the_test_set_are_counted():
    for scale in ("cpu", "smoke"):
        found = verdict(ERRORS.verdicts(table(), scale, NO_BASELINE), "different sequences in the test set")
        assert (found.measured, found.outcome, found.evidence) == (496, "not shown", "counted")
        assert found.note == "99 of 100 with 2 digits, 397 of 1,000 with 3 digits"
        assert found.contradicts == (scale == "cpu")


def test_verdict_of_eighteen_tests_is_repeated_with_holm_correction():
    found = ERRORS.verdicts(table(), "cpu", NO_BASELINE)
    p_values = []
    for cell in cells("cpu"):
        if cell.unlabelled:
            with_text, without = (
                by_trial(thesis_rows(), "misclassification", **one._asdict()) for one in (cell, cell.without_text)
            )
            p_values.append(ttest_rel(*([one[trial] for trial in range(1, 6)] for one in (with_text, without))).pvalue)
    corrected = 0
    for number, p_value in enumerate(sorted(p_values)):
        if p_value > 0.05 / (len(p_values) - number):
            break
        corrected += 1
    assert 0 < corrected < 12
    with_holm = verdict(found, "lowers the error, thesis settings, with Holm's correction")
    assert (with_holm.measured, with_holm.outcome) == (corrected, "shown")
    assert with_holm.note.startswith(f"{corrected} by the same test")


def test_half_the_errors_are_better_and_double_are_not_reproduced():
    better, worse = (ERRORS.verdicts(table(scale), "cpu", NO_BASELINE) for scale in (0.5, 2.0))
    assert verdict(better, "cells with unlabelled text whose error is significantly lower").measured == 18
    assert verdict(better, "128 labelled, defaults: means with 512").outcome == "better"
    assert verdict(worse, "128 labelled, defaults: means with 512").outcome == "worse"
    for found in (better, worse):  # a lower error is not a reproduction either
        assert verdict(found, "cells with unlabelled text whose error agrees").measured == 0
        assert verdict(found, "128 labelled, thesis settings: means with 512").outcome == "not reproduced"
    assert "not reproduced in 6 of the 6 cells" in verdict(worse, "128 labelled, thesis settings: means with 512").note


def test_single_bad_cell_is_reported():
    rows = table()
    for row in rows:
        if (row["settings"], row["labelled"], row["unlabelled"], row["weight"]) == ("thesis", 64, 512, 0.1):
            row["misclassification"] += 0.2
    found = ERRORS.verdicts(rows, "cpu", NO_BASELINE)
    assert verdict(found, "64 labelled, thesis settings: means with 512").outcome == "not reproduced"
    note = verdict(found, "64 labelled, thesis settings: means with 512").note
    assert "not reproduced in 1, agrees in 5 of the 6 cells" in note
    assert verdict(found, "cells with unlabelled text whose error agrees").measured == 17
    assert verdict(found, "lowers the error, thesis settings").measured == 11
    assert verdict(found, "lowers the error, defaults").measured == 12


@pytest.mark.parametrize(("shift", "outcome"), [(0.0, "shown"), (-0.05, "not shown"), (0.05, "not shown")])
def test_errors_with_1024_and_512_unlabelled_texts_are_compared(shift, outcome):
    rows = table(settings=["thesis"])
    halves = {(row["labelled"], row["weight"], row["trial"]): row for row in rows if row["unlabelled"] == 512}
    for row in rows:
        if row["unlabelled"] == 1024:
            half = halves[row["labelled"], row["weight"], row["trial"]]["misclassification"]
            row["misclassification"] = half + shift
    found = verdict(ERRORS.verdicts(rows, "cpu", NO_BASELINE), "1,024 minus with 512")
    assert (found.measured, found.outcome, found.seeds) == (pytest.approx(shift), outcome, 5)


def baseline(*spread, trials=3, **rates):
    """Trainings of our baseline with these rates, by form. The trials in turn differ by the numbers in `spread`."""
    return {
        ATTENTION: [
            {
                "form": form, "pairs": size, "trial": trial, "misclassification": rate + shift,
                "misclassification_301": 0.95,
            }
            for form, rate in rates.items() for size in FORMS[form].sizes
            for trial, shift in zip(range(1, 1 + trials), spread or [0.0] * trials, strict=True)
        ]
    }  # fmt: skip


def test_cells_below_thesis_baseline_and_our_baselines_are_counted():
    grid = table(settings=["thesis"])
    (alone,) = [
        verdict for verdict in ERRORS.verdicts(grid, "cpu", NO_BASELINE) if "attention baseline" in verdict.quantity
    ]
    assert (alone.measured, alone.outcome) == (18, "no claim")
    assert "one training of the baseline" in alone.note
    found = ERRORS.verdicts(grid, "cpu", baseline(thesis=0.9, dense=0.05, bounded=0.1))
    ours = verdict(found, f"baseline (ours, {FORMS['thesis'].words})")
    assert (ours.measured, ours.outcome) == (18, "shown")
    assert not ours.qualifies
    dense = verdict(found, f"baseline (ours, {FORMS['dense'].words})")
    assert (dense.measured, dense.outcome) == (0, "no claim")  # "bounded" has one number of pairs: it is left out
    assert "if it has 301 epochs, too, 18 cells are below it" in dense.note
    assert dense.qualifies
    assert not [one for one in found if f"ours, {FORMS['bounded'].words}" in one.quantity]


def test_cell_is_below_our_baseline_only_if_the_whole_interval_is():
    def ours(grid, attention):
        return verdict(ERRORS.verdicts(grid, "cpu", attention), f"baseline (ours, {FORMS['thesis'].words})")

    grid = table(settings=["thesis"])
    wide = ours(grid, baseline(-0.4, 0.0, 0.4, thesis=0.5))  # all means are below
    assert (wide.measured, wide.outcome) == (0, "not shown")
    assert ours(grid, baseline(-0.001, 0.0, 0.001, thesis=0.5)).outcome == "shown"
    assert ours(grid, baseline(trials=2, thesis=0.9)).outcome == "no claim"
    assert ours(grid, baseline(trials=1, thesis=0.9)).outcome == "no claim"
    part = table(settings=["thesis"], keep=lambda row: row["labelled"] == 64)
    assert ours(part, baseline(thesis=0.9)).outcome == "no claim"


def test_baseline_that_is_not_below_most_cells_qualifies_nothing():
    found = ERRORS.verdicts(table(settings=["thesis"]), "cpu", baseline(-0.4, 0.0, 0.4, dense=0.05))
    assert not verdict(found, f"baseline (ours, {FORMS['dense'].words})").qualifies


def test_few_trainings_of_baseline_or_grid_qualify_nothing():
    dense = f"baseline (ours, {FORMS['dense'].words})"
    whole, part = table(settings=["thesis"]), table(settings=["thesis"], keep=lambda row: row["trial"] <= 4)
    assert verdict(ERRORS.verdicts(whole, "cpu", baseline(-0.01, 0.0, 0.01, dense=0.05)), dense).qualifies
    two = verdict(ERRORS.verdicts(whole, "cpu", baseline(-0.01, 0.01, trials=2, dense=0.05)), dense)
    assert not two.qualifies
    assert "fewer than 3 trainings of the baseline" in two.note
    assert not verdict(ERRORS.verdicts(part, "cpu", baseline(dense=0.05)), dense).qualifies


def test_verdicts_on_partial_results_name_their_cells_and_trials():
    part = table(
        settings=["thesis"], keep=lambda row: row["trial"] <= 2 and row["labelled"] == 64 and row["weight"] > 0.1
    )
    part += table(
        settings=["thesis"], keep=lambda row: row["trial"] == 1 and row["labelled"] == 128 and row["unlabelled"]
    )
    found = ERRORS.verdicts(part, "cpu", NO_BASELINE)
    sixty_four = verdict(found, "64 labelled, thesis settings: means with 512")
    assert (sixty_four.seeds, sixty_four.measured.count("–")) == (2, 4)
    assert sixty_four.note.endswith("2 trials each")
    # One training is compared with five: it could be a sixth one.
    assert verdict(found, "128 labelled").note == (
        "agrees in 6 of the 6 cells (Welch, 95 %; trainings with the same training set count as independent), "
        "1 trial each"
    )
    agrees = verdict(found, "cells with unlabelled text whose error agrees")
    assert "of 8 cells trained" in agrees.note
    assert agrees.outcome == "no claim"  # because other trainings are still missing
    assert "of 2 cells with unlabelled text" in verdict(found, "lowers the error, thesis settings").quantity
    assert not [verdict for verdict in found if "defaults" in verdict.quantity]


def test_cells_with_missing_trials_give_no_claim():
    two = table(settings=["thesis"], keep=lambda row: row["trial"] <= 2)
    found = ERRORS.verdicts(two, "cpu", NO_BASELINE)
    agrees = verdict(found, "cells with unlabelled text whose error agrees")
    assert agrees.measured == 18
    holm = verdict(found, "lowers the error, thesis settings, with Holm's correction")
    assert {agrees.outcome, holm.outcome, verdict(found, "1,024 minus with 512").outcome} == {"no claim"}
    for row in two:
        row["misclassification"] += 0.4 if row["labelled"] == 256 else 0.0
    agrees = verdict(ERRORS.verdicts(two, "cpu", NO_BASELINE), "cells with unlabelled text whose error agrees")
    assert (agrees.measured, agrees.outcome) == (12, "no claim")  # more trials may change the outcome of a cell


@pytest.mark.parametrize(("shift", "outcome"), [(0.04, "shown"), (0.2, "not shown")])
def test_errors_agree_if_no_cell_differs_with_holm_correction(shift, outcome):
    rows = table(settings=["thesis"])
    for row in rows:
        if (row["labelled"], row["unlabelled"], row["weight"]) == (64, 512, 0.1):
            row["misclassification"] += shift
    agrees = verdict(ERRORS.verdicts(rows, "cpu", NO_BASELINE), "cells with unlabelled text whose error agrees")
    assert (agrees.measured, agrees.outcome) == (17, outcome)
