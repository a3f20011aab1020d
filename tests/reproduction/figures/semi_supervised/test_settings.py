"""The comparisons of settings of semi-supervised training."""

import pytest

from bytenet.reproduction.figures.semi_supervised.grid_runs import Cell, grid_run
from bytenet.reproduction.figures.semi_supervised.settings import VARIANTS
from bytenet.reproduction.registry import find_experiment

EXPERIMENT = find_experiment("semi-supervised-settings")
NONE, PLAIN = grid_run("default", Cell(128, 0, 0.2), "cpu"), grid_run("default", Cell(128, 1024, 0.2), "cpu")
THESIS = grid_run("thesis", Cell(128, 1024, 0.2), "cpu")
STARTED = "started from supervised translators"


def test_plain_runs_are_the_runs_of_the_grid():
    runs = EXPERIMENT.runs("cpu")
    of_grid = [NONE, PLAIN, THESIS]
    assert [run.name for run in runs[:3]] == [run.name for run in of_grid]
    assert [run.config(seed=2) for run in runs[:3]] == [run.config(seed=2) for run in of_grid]
    assert len(runs) == 3 + len(VARIANTS)


@pytest.mark.parametrize("label", VARIANTS)
def test_variants_change_only_stated_settings_and_validation_seed(label):
    run = dict(zip(VARIANTS, EXPERIMENT.runs("cpu")[3:], strict=True))[label]
    plain = THESIS if VARIANTS[label].of == "thesis" else PLAIN
    changes = {key: new for key, _, new in plain.config(seed=1).differences(run.config(seed=1))}
    assert changes.pop("data.validation_seed") == 12
    stated = {setting.partition("=")[0] for setting in VARIANTS[label].settings}
    starts = {"semi_supervised.start_forward", "semi_supervised.start_backward"} if VARIANTS[label].started else set()
    assert set(changes) == stated | starts
    assert VARIANTS[label].against in (*VARIANTS, "plain", "the thesis's settings")


def test_both_start_translators_come_from_the_run_without_text():
    (run,) = [run for run in EXPERIMENT.runs("cpu") if run.name.endswith(STARTED.replace(" ", "-"))]
    assert [(start.run.name, start.folder) for start in run.starts] == [(NONE.name, ""), (NONE.name, "backward")]


def row(run, trial, value, step_ms=100.0, steps=1000, processor="slow"):
    return {
        "run": run, "trial": trial, "misclassification": value, "loss": 1.0, "seconds": 500.0, "steps": steps,
        "step_ms": step_ms, "processor": processor,
    }  # fmt: skip


def test_differences_are_paired_over_trials():
    table = [row("no unlabelled text", trial, 0.3 + trial / 100, 40.0) for trial in (1, 2, 3)]
    table += [row("plain", trial, 0.2 + trial / 100) for trial in (1, 2, 3)]
    table += [row("beam 10", trial, 0.18 + trial / 100, 150.0) for trial in (1, 2)]
    plain, beam = EXPERIMENT.verdicts(table, "cpu")
    assert plain.quantity == "validation misclassification, plain minus no unlabelled text"
    assert plain.measured == pytest.approx(-0.1)
    assert plain.interval == pytest.approx((-0.1, -0.1))
    assert plain.seeds == 3
    assert plain.note == "0.220 and 0.320; its steps take 2.50 times as long"
    assert (beam.measured, beam.seeds) == (pytest.approx(-0.02), 2)
    assert beam.note == (  # means of the two trials that both runs have
        "0.195 and 0.215; minus no unlabelled text -0.120 (-0.12 to -0.12); its steps take 1.50 times as long"
    )
    assert beam.outcome == "no claim"


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [
        ((0.3, 0.31, 0.32), "shown"),
        ((0.2, 0.3, 0.4), "not shown"),
        ((0.3, 0.31), "no claim"),
        ((0.1,) * 3, "not shown"),
    ],
)
def test_wide_beam_contributes_only_if_the_whole_interval_shows_it(errors, outcome):
    table = [row("plain", trial, 0.2) for trial in (1, 2, 3)]
    table += [row("beam 1", trial, error) for trial, error in enumerate(errors, start=1)]
    (beam,) = EXPERIMENT.verdicts(table, "cpu")
    assert beam.outcome == outcome
    assert "with our settings" in beam.note


def test_continued_training_is_compared_with_one_of_equal_length():
    table = [row(label, 1, 0.2) for label in ("602 epochs", STARTED, f"{STARTED}, only forward trained further")]
    found = [verdict.quantity.partition(", ")[2] for verdict in EXPERIMENT.verdicts(table, "cpu")]
    assert found == [f"{STARTED} minus 602 epochs", f"{STARTED}, only forward trained further minus {STARTED}"]


def test_difference_from_the_thesis_settings_is_named_by_its_effect():
    merged = "same hypotheses merged, the thesis's settings"
    table = [row("the thesis's settings", 1, 0.2), row(merged, 1, 0.19)]
    (verdict,) = EXPERIMENT.verdicts(table, "cpu")
    assert verdict.quantity.endswith(", effect of merging equal hypotheses, with the thesis's settings")
    assert verdict.measured == pytest.approx(-0.01)


def test_time_of_continued_training_includes_its_start_training():
    table = [row("no unlabelled text", 1, 0.3, 40.0), row("602 epochs", 1, 0.2, steps=2000), row(STARTED, 1, 0.2)]
    (_, started) = EXPERIMENT.verdicts([*table, row("plain", 1, 0.2)], "cpu")[-2:]
    assert started.note.endswith("its steps take 0.70 times as long")


def test_times_of_two_processors_are_not_compared():
    table = [row("no unlabelled text", 1, 0.3), row("plain", 1, 0.2, processor="fast")]
    (plain,) = EXPERIMENT.verdicts(table, "cpu")
    assert plain.note == "0.200 and 0.300"
    assert plain.measured == pytest.approx(-0.1)


def test_picture_of_partial_results_is_drawn(tmp_path):
    EXPERIMENT.plot([row("plain", 1, 0.2), row("beam 10", 1, 0.19), row("beam 10", 2, 0.2)], tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_picture_has_thesis_values_and_marks_our_runs_with_here(tmp_path, figures):
    EXPERIMENT.plot([row("the thesis's settings", 1, 0.2), row("plain", 1, 0.19)], tmp_path / "picture.png")
    (axes,) = figures[0].axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["the thesis's settings, here", "plain"]
    printed = [line.get_xdata()[0] for line in axes.lines if line.get_label().startswith("thesis, 128 pairs")]
    assert printed == pytest.approx([0.289, 0.207], abs=0.001)  # as in figure 3.6.1
