"""When runs are evaluated, and when they end."""

import numpy as np

from bytenet.csv_log import read_csv_log
from bytenet.training import train
from bytenet.training.callbacks import TrainingLog
from bytenet.training.state import TrainingState, changes_to_train_on

from .tensorboard_logs import read_log


def test_max_steps_ends_a_run_in_the_middle_of_an_epoch(smallest_config, pool, tmp_path):
    config = smallest_config("training.max_steps=4")
    folder = train(config, tmp_path / "run", models=pool)
    assert read_csv_log(folder.metrics_path)["step"] == [3, 4]
    assert folder.model_path.exists()
    assert train(config, tmp_path / "run", resume=True, models=pool).path == folder.path
    assert read_csv_log(folder.metrics_path)["step"] == [3, 4]


def test_evaluations_inside_of_epochs_keep_the_best_model(
    smallest_config, val_losses, eagerly, model_weights, tmp_path, monkeypatch
):
    monkeypatch.setattr(TrainingLog, "EVERY_STEPS", 2)
    longer, shorter = [2.0, 3.0, 1.0, 4.0], [3.0, 1.0]
    val_losses(*longer, *shorter)
    config = smallest_config("evaluation.every_steps=2", "evaluation.num_samples=0")
    folder = train(config, tmp_path / "run")
    metrics = read_csv_log(folder.metrics_path)
    # Three steps an epoch. The end of an epoch comes after step 3, and the end of the run after step 6.
    assert (metrics["step"], metrics["epoch"]) == ([2, 3, 4, 6], [1, 1, 2, 2])
    assert metrics["val_loss"] == longer
    assert all(np.isfinite(metrics["loss"]))
    # The same steps until the best score.
    until_best = train(smallest_config("training.max_steps=4", "evaluation.num_samples=0"), tmp_path / "until_best")
    assert all(map(np.array_equal, model_weights(folder.path), model_weights(until_best.path)))
    tags = read_log(folder, "train").Tags()["tensors"]
    assert "loss" in tags
    assert "val_loss" not in tags


def test_evaluations_by_steps_do_not_need_those_by_epochs(smallest_config, val_losses, eagerly, tmp_path):
    val_losses(4.0, 3.0, 2.0)
    config = smallest_config(
        "training.epochs=3", "evaluation.every_epochs=9", "evaluation.every_steps=3", "evaluation.num_samples=0",
        "training.accumulate_batches=2",
    )  # fmt: skip
    metrics = read_csv_log(train(config, tmp_path / "run").metrics_path)
    measured = [step for step, loss in zip(metrics["step"], metrics["val_loss"], strict=True) if loss == loss]
    assert measured == [3, 6, 9]


def test_only_the_end_of_an_epoch_stops_a_run_without_progress(smallest_config, val_losses, eagerly, tmp_path):
    val_losses(1.0, 2.0, 2.0, 2.0, 2.0)
    config = smallest_config(
        "training.epochs=5", "training.early_stopping_patience=1", "evaluation.every_steps=2",
        "evaluation.num_samples=0",
    )  # fmt: skip
    folder = train(config, tmp_path / "run")
    assert read_csv_log(folder.metrics_path)["step"] == [2, 3, 4, 6]


def test_a_run_without_validation_pairs_saves_its_model_inside_of_epochs(
    smallest_config, without_validation, eagerly, tmp_path, monkeypatch
):
    saved = []
    monkeypatch.setattr(
        "bytenet.training.callbacks.whole_set_evaluation.save_model", lambda model, path: saved.append(path)
    )
    config = smallest_config(*without_validation, "data.batch_size=1", "training.epochs=1", "evaluation.every_steps=1")
    train(config, tmp_path / "run")
    assert len(saved) == 3


def test_early_stopping_ends_the_run_after_its_patience(smallest_config, pool, val_losses, tmp_path):
    val_losses(3.0, 2.0, 2.5, 2.1, 1.0)
    config = smallest_config("training.epochs=5", "training.early_stopping_patience=2", "evaluation.num_samples=0")
    folder = train(config, tmp_path / "run", models=pool)
    assert read_csv_log(folder.metrics_path)["val_loss"] == [3.0, 2.0, 2.5, 2.1]


def test_a_run_stopped_between_evaluations_did_not_stop_early(smallest_config):
    config = smallest_config("training.epochs=30", "training.early_stopping_patience=5", "evaluation.every_epochs=10")
    state = TrainingState(epoch=17, step=51, best_epoch=10, best_scores={"forward": 1.0})
    assert changes_to_train_on(state, config, num_batches=3) == {}
    state.epoch, state.step = 20, 60
    assert changes_to_train_on(state, config, 3) == {"training.early_stopping_patience": "more than 5"}


def test_a_finished_run_names_all_limits_that_hold(smallest_config):
    config = smallest_config("training.epochs=2", "training.max_steps=6")
    changes = changes_to_train_on(TrainingState(epoch=2, step=6), config, num_batches=3)
    assert changes == {"training.epochs": "more than 2", "training.max_steps": "more than 6"}
