"""The trainings of the grid: cells, settings, seeds and order. Also the numbers of the thesis."""

import math
from statistics import fmean

import pytest

from bytenet.config import load_config
from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.figures.semi_supervised.baseline_runs import PRINTED
from bytenet.reproduction.figures.semi_supervised.grid_runs import (
    LABELLED,
    UNLABELLED,
    WEIGHTS,
    Cell,
    cells,
    final_values,
    grid_run,
    grid_runs,
    thesis_rows,
)
from bytenet.reproduction.jobs.training import Training
from bytenet.reproduction.jobs.worker_queue import TrainingQueue

from .grid_tables import ERRORS


@pytest.mark.parametrize("scale", ["cpu", "thesis"])
def test_grid_is_trained_with_thesis_and_default_settings(scale):
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


def test_grid_has_all_sizes_texts_and_weights():
    found = {
        (config.data.num_train, config.data.num_monolingual, config.semi_supervised.source_weight)
        for config in (run.config(seed=1) for run in grid_runs("cpu"))
    }
    assert found == {(size, text or None, weight) for size in LABELLED for text in UNLABELLED for weight in WEIGHTS}
    assert len(cells("smoke")) == 2


def test_thesis_runs_change_only_cell_seeds_and_evaluation_of_preset():
    run = grid_run("thesis", Cell(128, 512, 0.1), "cpu")
    changes = load_config("digits-semi-thesis").differences(run.config(seed=2))
    assert {key for key, _, _ in changes if not key.startswith("evaluation.")} <= {
        "data.num_monolingual", "data.num_validation", "data.validation_seed", "data.train_seed",
        "data.monolingual_seed", "semi_supervised.source_weight", "training.seed",
    }  # fmt: skip


def seeds(cell, trial, settings="default"):
    config = grid_run(settings, cell, "cpu").config(seed=trial)
    return config.data.train_seed, config.data.monolingual_seed, config.training.seed


def test_seeds_match_the_thesis_and_are_shared_by_cells_of_a_trial():
    for trial in range(1, 6):
        for weight in WEIGHTS:
            same = {seeds(Cell(128, text, weight), trial) for text in UNLABELLED}
            assert len(same) == 1
            assert same.pop()[:2] == (10 * trial, 10 * trial + 1)
    first_weights = {seeds(Cell(128, 0, weight), trial)[2] for weight in WEIGHTS for trial in range(1, 6)}
    assert len(first_weights) == 15


def test_trials_are_trained_one_by_one_with_few_compilations(tmp_path):
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


def test_step_time_excludes_compilation_and_evaluation(tmp_path):
    lines = ["epoch,step,seconds,loss,source_marginal,val_misclassification"]
    lines += ["1,8,30.0,9.0,,", "2,16,30.8,8.0,,", "3,24,31.6,7.0,,", "4,32,40.0,6.0,,0.25"]
    (tmp_path / "metrics.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = final_values(tmp_path)
    assert found["step_ms"] == pytest.approx(100.0)
    assert (found["seconds"], found["loss"], found["val_misclassification"]) == (40.0, 6.0, 0.25)
    assert found["source_marginal"] == ""
    assert "side_by_side" not in found
    assert not any(isinstance(value, float) and math.isnan(value) for value in found.values())


def test_thesis_numbers_match_its_figures():
    rows = thesis_rows()
    assert len(rows) == 135
    # These values were read from the vector figure, independently.
    for cell, mean in {
        Cell(64, 0, 0.2): 0.418, Cell(64, 1024, 0.01): 0.410, Cell(128, 512, 0.1): 0.238,
        Cell(128, 1024, 0.2): 0.207, Cell(256, 512, 0.01): 0.142, Cell(256, 1024, 0.2): 0.095,
    }.items():  # fmt: skip
        values = by_trial(rows, "misclassification", **cell._asdict())
        assert set(values) == {1, 2, 3, 4, 5}
        assert fmean(values.values()) == pytest.approx(mean, abs=6e-4)
    assert sum(row["seconds"] for row in rows) / 3600 == pytest.approx(136.8, abs=0.05)


def test_thesis_baseline_is_above_all_thesis_means():
    assert all(
        fmean(by_trial(thesis_rows(), "misclassification", labelled=size, unlabelled=text, weight=weight).values())
        < PRINTED[size]
        for size in LABELLED
        for text in UNLABELLED
        for weight in WEIGHTS
    )
