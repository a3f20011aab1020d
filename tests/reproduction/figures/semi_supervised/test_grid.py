"""The grid of figures 3.6.1 and 3.6.2: its settings and seeds, and verdicts on tables that are made up."""

import math
from statistics import fmean

import pytest

from bytenet.config import load_config
from bytenet.reproduction.engine.results import read_table, write_table
from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.figures.semi_supervised.baseline_runs import ATTENTION, FORMS, PRINTED
from bytenet.reproduction.figures.semi_supervised.grid_runs import (
    LABELLED,
    SETTINGS,
    UNLABELLED,
    WEIGHTS,
    Cell,
    cells,
    final_values,
    grid_run,
    grid_runs,
    thesis_rows,
)
from bytenet.reproduction.jobs.training_run import Training
from bytenet.reproduction.jobs.worker_queue import TrainingQueue
from bytenet.reproduction.registry import find_experiment

ERRORS, TIMES = (find_experiment(f"fig-3.6.{number}") for number in (1, 2))
NO_BASELINE = {ATTENTION: []}


def table(scale=1.0, seconds=60.0, settings=SETTINGS, keep=lambda row: True):
    """A grid with the thesis's errors times `scale`, and its times in units of `seconds` an hour."""
    return [
        {
            "settings": name, **row, "misclassification": row["misclassification"] * scale,
            "seconds": row["seconds"] * seconds / 3600, "wall_seconds": row["seconds"] * seconds / 3600,
            "side_by_side": 2, "steps": row["labelled"], "step_ms": row["seconds"] / row["labelled"],
            "processor": "slow",
        }
        for name in settings for row in thesis_rows() if keep(row)
    ]  # fmt: skip


def verdict(found, words):
    """The one whose quantity has the words in it, at its end if there are several."""
    having = [verdict for verdict in found if words in verdict.quantity]
    (one,) = having if len(having) == 1 else [verdict for verdict in having if verdict.quantity.endswith(words)]
    return one


@pytest.mark.parametrize("scale", ["cpu", "thesis"])
def test_the_whole_grid_is_trained_with_both_settings(scale):
    runs = grid_runs(scale)
    assert len(runs) * ERRORS.seeds[scale] == 270
    assert len({run.name for run in runs}) == len(runs)
    for run in runs:
        config = run.config(seed=3)
        assert config.semi_supervised.enabled
        assert (config.training.epochs, config.evaluation.every_epochs, config.model.dim) == (301, 301, 20)
        assert (config.data.validation_seed, config.data.num_validation, config.evaluation.max_sentences) == (
            2,
            1024,
            None,
        )
        assert (config.evaluation.beam_size, config.evaluation.batch_norm_statistics) == (1, "moving")
        assert (config.training.keep_model, config.evaluation.continuous_every_seconds) == ("last", None)
        assert config.data.batch_size == {"thesis": 8, "default": 16}[config.model.settings]
        assert config.semi_supervised.target_weight == 0.0
    assert {run.config(1).model.settings for run in runs} == {"thesis", "default"}


def test_the_cells_of_the_grid():
    found = {
        (config.data.num_train, config.data.num_monolingual, config.semi_supervised.source_weight)
        for config in (run.config(seed=1) for run in grid_runs("cpu"))
    }
    assert found == {(size, text or None, weight) for size in LABELLED for text in UNLABELLED for weight in WEIGHTS}
    assert len(cells("smoke")) == 2


def test_thesis_settings_differ_from_the_preset_in_the_cell_seeds_and_evaluation_alone():
    run = grid_run("thesis", Cell(128, 512, 0.1), "cpu")
    changes = load_config("digits-semi-thesis").differences(run.config(seed=2))
    assert {key for key, _, _ in changes if not key.startswith("evaluation.")} <= {
        "data.num_monolingual", "data.num_validation", "data.validation_seed", "data.train_seed",
        "data.monolingual_seed", "semi_supervised.source_weight", "training.seed",
    }  # fmt: skip


def seeds(cell, trial, settings="default"):
    config = grid_run(settings, cell, "cpu").config(seed=trial)
    return config.data.train_seed, config.data.monolingual_seed, config.training.seed


def test_seeds_are_the_thesis_s_and_cells_are_paired_over_trials():
    for trial in range(1, 6):
        for weight in WEIGHTS:
            same = {seeds(Cell(128, text, weight), trial) for text in UNLABELLED}
            assert len(same) == 1
            assert same.pop()[:2] == (10 * trial, 10 * trial + 1)
    first_weights = {seeds(Cell(128, 0, weight), trial)[2] for weight in WEIGHTS for trial in range(1, 6)}
    assert len(first_weights) == 15


def test_a_stopped_grid_has_whole_trials_and_few_compilations(tmp_path):
    waiting = [Training.make(run, seed, tmp_path) for run in grid_runs("cpu") for seed in (1, 2)]
    queue, compiled, changes, last = TrainingQueue(waiting), set(), 0, None
    order = []
    while (training := queue.take(compiled)) is not None:
        changes += training.run.together not in compiled
        compiled.add(training.run.together)
        order.append(training.seed)
        queue.done(training)
        assert training.run.cost > 0
        last = training
    assert order == [1] * 54 + [2] * 54
    assert last.seed == 2
    assert changes == 2 * len(LABELLED) * 2  # settings, sizes, with and without text


def test_the_thesis_s_numbers_are_those_of_its_figures():
    rows = thesis_rows()
    assert len(rows) == 135
    # Read off the vector figure, independently.
    for cell, mean in {
        Cell(64, 0, 0.2): 0.418, Cell(64, 1024, 0.01): 0.410, Cell(128, 512, 0.1): 0.238,
        Cell(128, 1024, 0.2): 0.207, Cell(256, 512, 0.01): 0.142, Cell(256, 1024, 0.2): 0.095,
    }.items():  # fmt: skip
        values = by_trial(rows, "misclassification", **cell._asdict())
        assert set(values) == {1, 2, 3, 4, 5}
        assert fmean(values.values()) == pytest.approx(mean, abs=6e-4)
    assert sum(row["seconds"] for row in rows) / 3600 == pytest.approx(136.8, abs=0.05)


def test_the_thesis_s_own_numbers_agree_with_it():
    found = ERRORS.verdicts(table(), "cpu", NO_BASELINE)
    means = [verdict for verdict in found if "labelled" in verdict.quantity and "means" in verdict.quantity]
    assert len(means) == 2 * 2 * len(LABELLED)  # both settings, with and without text
    assert all(verdict.printed == verdict.measured and verdict.seeds == 5 for verdict in means)
    for verdict_of_means in means:
        assert verdict_of_means.outcome == ("agrees" if "thesis" in verdict_of_means.quantity else "no difference")
    # SciPy's ttest_rel on each of the 18 cells.
    for words in SETTINGS.values():
        helps = verdict(found, f"lowers the error, {words}")
        assert (helps.measured, helps.outcome) == (12, "shown")
        assert helps.note.startswith("12 by the same test on the author's numbers; ")
        assert "by weight .2: 6, .1: 5, .01: 1; 5 trials each" in helps.note
    assert verdict(found, "cells with unlabelled text whose error agrees").measured == 18
    assert verdict(found, "cells without unlabelled text whose error agrees").measured == 9
    lower = verdict(found, "cells with unlabelled text whose error is significantly lower")
    assert (lower.measured, lower.outcome) == (0, "no claim")


def test_holm_s_correction_stands_beside_eighteen_tests():
    from scipy.stats import ttest_rel

    found = ERRORS.verdicts(table(), "cpu", NO_BASELINE)
    chances = []
    for cell in cells("cpu"):
        if cell.unlabelled:
            with_text, without = (
                by_trial(thesis_rows(), "misclassification", **one._asdict()) for one in (cell, cell.without_text)
            )
            chances.append(ttest_rel(*([one[trial] for trial in range(1, 6)] for one in (with_text, without))).pvalue)
    corrected = 0
    for number, chance in enumerate(sorted(chances)):
        if chance > 0.05 / (len(chances) - number):
            break
        corrected += 1
    assert 0 < corrected < 12
    with_holm = verdict(found, "lowers the error, thesis settings, with Holm's correction")
    assert (with_holm.measured, with_holm.outcome) == (corrected, "shown")
    assert with_holm.note.startswith(f"{corrected} by the same test")


def test_half_the_thesis_s_errors_are_better_and_twice_are_not_reproduced():
    better, worse = (ERRORS.verdicts(table(scale), "cpu", NO_BASELINE) for scale in (0.5, 2.0))
    assert verdict(better, "cells with unlabelled text whose error is significantly lower").measured == 18
    assert verdict(better, "128 labelled, defaults: means with 512").outcome == "better"
    assert verdict(worse, "128 labelled, defaults: means with 512").outcome == "worse"
    for found in (better, worse):  # a lower error is no reproduction either
        assert verdict(found, "cells with unlabelled text whose error agrees").measured == 0
        assert verdict(found, "128 labelled, thesis settings: means with 512").outcome == "not reproduced"
    assert "not reproduced in 6 of the 6 cells" in verdict(worse, "128 labelled, thesis settings: means with 512").note


def test_a_single_bad_cell_is_told():
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
def test_the_second_half_of_the_text_is_compared_with_the_first(shift, outcome):
    rows = table(settings=["thesis"])
    halves = {(row["labelled"], row["weight"], row["trial"]): row for row in rows if row["unlabelled"] == 512}
    for row in rows:
        if row["unlabelled"] == 1024:
            half = halves[row["labelled"], row["weight"], row["trial"]]["misclassification"]
            row["misclassification"] = half + shift
    found = verdict(ERRORS.verdicts(rows, "cpu", NO_BASELINE), "1,024 minus with 512")
    assert (found.measured, found.outcome, found.seeds) == (pytest.approx(shift), outcome, 5)


def test_cells_are_counted_below_the_thesis_s_baseline_and_ours():
    rates = {"thesis": 0.9, "dense": 0.2, "bounded": 0.1}
    baseline = [
        {"form": form, "pairs": size, "trial": trial, "misclassification": rate}
        for form, rate in rates.items() for size in FORMS[form].sizes for trial in (1, 2)
    ]  # fmt: skip
    (alone,) = [
        verdict for verdict in ERRORS.verdicts(table(settings=["thesis"]), "cpu", NO_BASELINE)
        if "attention baseline" in verdict.quantity
    ]  # fmt: skip
    assert (alone.measured, alone.outcome) == (18, "shown")
    found = ERRORS.verdicts(table(settings=["thesis"]), "cpu", {ATTENTION: baseline})
    ours = verdict(found, f"baseline (ours, {FORMS['thesis'].words})")
    assert (ours.measured, ours.outcome) == (18, "shown")
    dense = verdict(found, f"baseline (ours, {FORMS['dense'].words})")
    below = sum(
        fmean(by_trial(thesis_rows(), "misclassification", **cell._asdict()).values()) < rates["dense"]
        for cell in cells("cpu")
        if cell.unlabelled
    )
    assert (dense.measured, dense.outcome) == (below, "no claim")  # trained with one number of pairs, "bounded" is out
    assert not [one for one in found if FORMS["bounded"].words in one.quantity and "dense" not in one.quantity]


def test_verdicts_on_a_part_say_on_what_they_rest():
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
    # One training against five: it could be one more of them.
    assert verdict(found, "128 labelled").note == "agrees in 6 of the 6 cells (Welch, 95 %), 1 trial each"
    agrees = verdict(found, "cells with unlabelled text whose error agrees")
    assert "of 8 cells trained" in agrees.note
    assert agrees.outcome == "no claim"  # as long as the others are to come
    assert "of 2 cells with unlabelled text" in verdict(found, "lowers the error, thesis settings").quantity
    assert not [verdict for verdict in found if "defaults" in verdict.quantity]


def test_all_cells_with_a_part_of_their_trials_are_no_claim_unless_one_differs():
    two = table(settings=["thesis"], keep=lambda row: row["trial"] <= 2)
    found = ERRORS.verdicts(two, "cpu", NO_BASELINE)
    agrees = verdict(found, "cells with unlabelled text whose error agrees")
    assert agrees.measured == 18
    assert {agrees.outcome, verdict(found, "lowers the error, thesis settings").outcome} == {"no claim"}
    for row in two:
        row["misclassification"] += 0.4 if row["labelled"] == 256 else 0.0
    found = ERRORS.verdicts(two, "cpu", NO_BASELINE)
    assert verdict(found, "cells with unlabelled text whose error agrees").outcome == "not shown"


def test_times():
    found = TIMES.verdicts(table(seconds=60.0), "cpu")
    hours = verdict(found, "hours for 135 trainings of the grid's 135, defaults")
    assert hours.printed == pytest.approx(136.8, abs=0.05)
    assert hours.measured == pytest.approx(136.8 / 60 / 2, abs=0.01)  # two at a time
    assert (hours.outcome, hours.evidence) == ("no claim", "measured, other hardware")
    assert "the steps alone, by their median time, 0.07" in hours.note  # 136.8 / 1000 / 2
    ratio = verdict(found, "time of a step with unlabelled text over one without, thesis settings")
    assert ratio.measured == pytest.approx(5.6, abs=0.1)
    assert (ratio.seeds, ratio.outcome) == (5, "no claim")
    assert ratio.note.startswith("the author's data: 5.61, of whole trainings; ")
    assert "64: 5.51, 128: 5.65, 256: 5.67" in ratio.note


def test_times_with_more_texts():
    same = verdict(TIMES.verdicts(table(), "cpu"), "1,024 unlabelled texts over one with 512, defaults")
    assert (same.seeds, same.outcome) == (5, "shown")
    assert same.measured == pytest.approx(1.0, abs=0.02)  # the author's own times
    slower = table()
    for row in slower:
        row["step_ms"] *= 1.2 if row["unlabelled"] == 1024 else 1
    slower = verdict(TIMES.verdicts(slower, "cpu"), "1,024 unlabelled texts over one with 512, defaults")
    assert slower.outcome == "not shown"
    assert slower.measured == pytest.approx(1.2 * same.measured)


def test_times_of_two_processors_are_told_and_not_compared():
    rows = table(settings=["default"])
    for row in rows:
        if row["trial"] == 1 or (row["trial"] == 2 and row["unlabelled"]):
            row |= {"processor": "fast", "step_ms": row["step_ms"] / 10}
    found = TIMES.verdicts(rows, "cpu")
    assert verdict(found, "hours").note.startswith("2 at a time on fast and slow;")
    ratio = verdict(found, "time of a step with unlabelled text over one without, defaults")
    assert ratio.seeds == 4  # of the second trial nothing can be said
    assert ratio.measured == pytest.approx(5.6, abs=0.1)


def test_times_of_a_part_are_compared_with_the_same_part():
    part = table(keep=lambda row: row["trial"] == 1 and row["labelled"] == 64 and row["weight"] == 0.2, seconds=3600)
    found = TIMES.verdicts(part, "cpu")
    hours = verdict(found, "hours for 3 trainings of the grid's 135, thesis settings")
    assert hours.measured == pytest.approx(hours.printed / 2)
    assert verdict(found, "time of a step with unlabelled text over one without, defaults").seeds == 1


def test_sizes_without_a_trial_in_common_are_not_put_together():
    part = table(keep=lambda row: (row["labelled"], row["trial"]) in ((64, 1), (128, 2)))
    assert not [verdict for verdict in TIMES.verdicts(part, "cpu") if "time of a step" in verdict.quantity]


@pytest.mark.parametrize("experiment", [ERRORS, TIMES], ids=lambda experiment: experiment.name)
@pytest.mark.parametrize("keep", [lambda row: True, lambda row: row["trial"] == 1 and row["labelled"] == 64])
def test_the_whole_and_a_part_are_drawn(experiment, keep, tmp_path):
    write_table(tmp_path / "data.csv", table(0.8, keep=keep))
    beside = [NO_BASELINE] if experiment.beside else []
    experiment.plot(read_table(tmp_path / "data.csv"), tmp_path / "picture.png", *beside)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_the_figure_has_the_thesis_s_intervals_and_the_baseline(monkeypatch, tmp_path):
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, dpi: drawn.append(figure))
    ERRORS.plot(table(0.8), tmp_path / "picture.png", NO_BASELINE)
    axes = drawn[0].axes
    assert [one.get_title() for one in axes[:3]] == [f"{size} labelled pairs" for size in LABELLED]
    settings = [one.get_ylabel().partition("\n")[0] for one in axes[::3]]
    assert settings == ["here, the thesis's settings", "here, our defaults"]
    for one, size in zip(axes, 2 * LABELLED, strict=True):
        labelled = {container.get_label(): container for container in one.containers}
        assert set(labelled) == {f"weight {weight}, {whose}" for weight in WEIGHTS for whose in ("thesis", "here")}
        line, _, (bars,) = labelled["weight 0.2, thesis"]
        assert line.get_ydata()[0] == pytest.approx(
            fmean(by_trial(thesis_rows(), "misclassification", labelled=size, unlabelled=0, weight=0.2).values())
        )
        low, high = bars.get_segments()[0][:, 1]
        assert (low + high) / 2 == pytest.approx(line.get_ydata()[0])
        if size == 64:
            assert (high - low) / 2 == pytest.approx(0.033, abs=0.001)  # as in the thesis's figure
        assert [line.get_ydata()[0] for line in one.lines if line.get_label().startswith("attention")] == [
            PRINTED[size]
        ]


def test_final_values_leave_compilation_and_evaluation_out_of_the_step(tmp_path):
    lines = ["epoch,step,seconds,loss,source_marginal,val_misclassification"]
    lines += ["1,8,30.0,9.0,,", "2,16,30.8,8.0,,", "3,24,31.6,7.0,,", "4,32,40.0,6.0,,0.25"]
    (tmp_path / "metrics.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = final_values(tmp_path)
    assert found["step_ms"] == pytest.approx(100.0)
    assert (found["seconds"], found["loss"], found["val_misclassification"]) == (40.0, 6.0, 0.25)
    assert found["source_marginal"] == ""
    assert "side_by_side" not in found
    assert not any(isinstance(value, float) and math.isnan(value) for value in found.values())


def test_the_baseline_is_above_all_of_the_thesis_s_means():
    assert all(
        fmean(by_trial(thesis_rows(), "misclassification", labelled=size, unlabelled=text, weight=weight).values())
        < PRINTED[size]
        for size in LABELLED
        for text in UNLABELLED
        for weight in WEIGHTS
    )
