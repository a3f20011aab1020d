"""Curves from handmade tables and folders."""

import numpy as np
import pytest

from bytenet.reproduction.engine.experiment import Work
from bytenet.reproduction.figures.shared.curves import beginning, collect_curves, series, settled
from bytenet.reproduction.jobs.training_run import TrainingRun, run_folder_of


def row(run, seed, epoch, train, test):
    return {
        "run": run, "seed": seed, "epoch": epoch, "train_misclassification": train, "test_misclassification": test,
        "train_bleu": 100 * train, "test_bleu": 100 * test,
    }  # fmt: skip


@pytest.fixture
def curves():
    """Two runs with two seeds each. One curve has an extra point. The rows of the seeds alternate."""
    table = [row(run, seed, epoch, 1 / (epoch + seed), 0.5) for epoch in range(10) for run in "ab" for seed in (2, 1)]
    return [*table, row("a", 2, 10, 0.0, 1.0)]


def test_series_are_grouped_by_seed_in_order(curves):
    found = series(curves, "a", "train_misclassification")
    assert list(found) == [1, 2]
    epochs, values = found[1]
    np.testing.assert_array_equal(epochs, range(10))
    np.testing.assert_allclose(values, [1 / (epoch + 1) for epoch in range(10)])
    assert len(found[2][0]) == 11
    assert series(curves, "c", "train_misclassification") == {}


def test_settled_value_is_the_mean_of_the_last_points():
    table = [row("a", seed, epoch, epoch + seed, 0) for seed in (1, 2) for epoch in range(10)]
    assert settled(table, "a", "train_misclassification") == [9.5, 10.5]  # the last two of ten points
    assert settled(table, "a", "train_misclassification", share=0.3) == [9, 10]
    assert settled(table[:1], "a", "train_misclassification") == [1]


def test_beginning_is_the_mean_of_the_first_points():
    table = [row("a", seed, epoch, epoch + seed, 0) for seed in (1, 2) for epoch in range(10)]
    assert beginning(table, "a", "train_misclassification") == [1.5, 2.5]  # the first two of ten points
    assert beginning(table, "a", "train_misclassification", share=0.3) == [2, 3]
    assert beginning(table[:1], "a", "train_misclassification") == [1]


def test_curves_are_collected_from_finished_runs(tmp_path):
    from bytenet.datasets import Vocabulary
    from bytenet.run_folder import RunFolder

    run = TrainingRun("one", "digits")
    for seed in (1, 2):
        folder = RunFolder.create(run_folder_of(run, seed, tmp_path), run.config(seed), Vocabulary("ab"))
        folder.metrics_path.write_text("epoch,step,loss\n1,8,1\n2,16,1\n", encoding="utf-8")
        (folder.path / "continuous.csv").write_text(
            f"step,seconds,bleu,train_bleu\n4,1,{seed},10\n12,2,{seed},20\n", encoding="utf-8"
        )
    work = Work("cpu", (1, 2), tmp_path)
    assert collect_curves(work, {"ours": run}, ["bleu"]) == [
        {"run": "ours", "seed": seed, "epoch": epoch, "train_bleu": train, "test_bleu": seed}
        for seed in (1, 2)
        for epoch, train in ((0.5, 10), (1.5, 20))
    ]
