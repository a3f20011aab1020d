"""Stopped, killed and finished runs are resumed. Changed data is refused."""

import csv
import os
import shutil
import signal
import time

import numpy as np
import pytest

from bytenet.csv_log import read_csv_log
from bytenet.errors import InputError
from bytenet.folder_lock import alone_in
from bytenet.training import train
from bytenet.training.checkpoints import checkpoints
from bytenet.training.state import TrainingState


@pytest.fixture
def files_config(smallest_config, tmp_path):
    """Write texts to files named like their settings, and make the configuration of a run on these files."""

    def make(**texts):
        for name, text in texts.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        paths = (f"data.{name}={tmp_path / name}" for name in texts)
        nothing = (f"data.{name}=null" for name in ("num_train", "num_validation", "num_test"))
        return smallest_config("data.corpus=files", "training.epochs=1", *nothing, *paths)

    return make


PAIRS = {"train_source": "ab\nba\naab\n", "train_target": "AB\nBA\nAAB\n"}


def test_interrupted_run_says_how_to_resume_and_ends_like_an_unbroken_one(smallest_config, pool, interrupted, tmp_path):
    config = smallest_config("training.ema_momentum=0.5")
    unbroken = train(config, tmp_path / "unbroken", models=pool)
    message = r"step 2; everything is saved.*bytenet train --resume --run"
    with interrupted(2), pytest.raises(KeyboardInterrupt, match=message):
        train(config, tmp_path / "broken", models=pool)
    broken = train(config, tmp_path / "broken", resume=True, models=pool)

    unbroken_metrics = read_csv_log(unbroken.metrics_path)
    broken_metrics = read_csv_log(broken.metrics_path)
    for name in ("step", "characters", "loss", "character_error", "val_loss", "val_chrf"):
        assert broken_metrics[name] == pytest.approx(unbroken_metrics[name], rel=1e-4), name


@pytest.mark.parametrize("step", [3, 6], ids=["the last step of an epoch", "the last step of all"])
def test_run_interrupted_at_the_end_of_an_epoch_evaluates_and_saves(smallest_config, pool, interrupted, tmp_path, step):
    with interrupted(step, signal.SIGINT), pytest.raises(KeyboardInterrupt):
        train(smallest_config(), tmp_path / "run", models=pool)
    folder = train(smallest_config(), tmp_path / "run", resume=True, models=pool)
    assert read_csv_log(folder.metrics_path)["step"] == [3, 6]
    assert folder.model_path.exists()


def test_run_killed_during_evaluation_repeats_unsaved_work(smallest_config, pool, tmp_path, monkeypatch):
    config = smallest_config("training.checkpoint_every_steps=1", "training.epochs=1")

    def die(self):
        raise SystemExit("killed")

    with monkeypatch.context() as patch:
        patch.setattr("bytenet.training.validation.Validator.whole_set", die)
        with pytest.raises(SystemExit):
            train(config, tmp_path / "run", models=pool)
    folder = train(config, tmp_path / "run", resume=True, models=pool)
    assert read_csv_log(folder.metrics_path)["step"] == [3]
    assert folder.model_path.exists()


def test_run_killed_after_its_first_model_and_before_its_first_checkpoint_begins_again(
    smallest_config, pool, tmp_path, monkeypatch
):
    def die(*arguments):
        raise SystemExit("killed")

    with monkeypatch.context() as patch:
        patch.setattr("bytenet.training.callbacks.checkpoint_saver.save_checkpoint", die)
        with pytest.raises(SystemExit):
            train(smallest_config("training.epochs=1"), tmp_path / "run", models=pool)
    assert (tmp_path / "run" / "model.keras").exists()
    (note,) = (tmp_path / "run" / "checkpoints").iterdir()
    folder = train(smallest_config("training.epochs=1"), tmp_path / "run", resume=True, models=pool)
    assert read_csv_log(folder.metrics_path)["step"] == [3]
    assert not note.exists()
    note.touch()  # as if the run had been killed right after its first checkpoint
    train(smallest_config("training.epochs=1"), tmp_path / "run", resume=True, models=pool)
    assert not note.exists()


@pytest.mark.parametrize("is_folder_deleted", [True, False])
def test_trained_model_without_its_checkpoints_is_not_overwritten(
    smallest_config, pool, unmeasured, tmp_path, is_folder_deleted
):
    folder = train(smallest_config("training.epochs=1"), tmp_path / "run", models=pool)
    shutil.rmtree(folder.checkpoints)
    if not is_folder_deleted:
        folder.checkpoints.mkdir()
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=r"no checkpoint .*: begin a new run .* training\.start=.*run\. To train"):
        train(smallest_config("training.epochs=2"), tmp_path / "run", resume=True, models=pool)
    assert {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()} == before


def test_random_batches_of_a_run_killed_before_its_first_checkpoint_are_measured_once(
    smallest_config, pool, interrupted, tmp_path
):
    config = smallest_config("training.epochs=1", "evaluation.continuous_every_steps=2", "evaluation.smoothing=0.5")
    unbroken = train(config, tmp_path / "unbroken", models=pool)
    with interrupted(1), pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "broken", models=pool)
    for checkpoint in checkpoints(tmp_path / "broken" / "checkpoints"):
        checkpoint.unlink()  # as if the run had been killed before it
    broken = train(config, tmp_path / "broken", resume=True, models=pool)
    expected, found = (read_csv_log(folder.path / "continuous.csv") for folder in (unbroken, broken))
    assert found["step"] == expected["step"] == [0, 2]
    assert found["cross_entropy_smoothed"] == pytest.approx(expected["cross_entropy_smoothed"], rel=1e-4)


@pytest.mark.thorough
def test_metrics_after_the_last_checkpoint_are_removed_on_resume(smallest_config, pool, tmp_path):
    config = smallest_config("training.keep_checkpoints=2", "training.checkpoint_every_steps=3")
    folder = train(config, tmp_path / "run", models=pool)
    _, last = checkpoints(folder.checkpoints)
    last.unlink()  # as if the run had been killed before it saved this checkpoint
    train(config, tmp_path / "run", resume=True, models=pool)
    with open(folder.metrics_path, encoding="utf-8", newline="") as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["3", "6"]


@pytest.mark.thorough
def test_finished_run_continues_when_it_gets_more_epochs(smallest_config, pool, tmp_path):
    folder = train(smallest_config("training.epochs=1"), tmp_path / "run", models=pool)
    train(smallest_config("training.epochs=2"), tmp_path / "run", resume=True, models=pool)
    assert read_csv_log(folder.metrics_path)["step"] == [3, 6]
    assert len(folder.environment()["commands"]) == 2
    train(smallest_config("training.epochs=2"), tmp_path / "run", resume=True, models=pool)
    assert len(folder.environment()["commands"]) == 2, "nothing was trained"


def test_a_changed_corpus_is_refused_on_resume(files_config, pool, tmp_path):
    folder = train(files_config(**PAIRS), tmp_path / "run", models=pool)
    saved = folder.config_path.read_text(encoding="utf-8")
    changed = files_config(**PAIRS | {"train_source": "ab\nba\nbba\n"})
    with pytest.raises(InputError, match=r"not those that the run of .* began with"):
        train(changed, tmp_path / "run", resume=True, models=pool)
    assert folder.config_path.read_text(encoding="utf-8") == saved


def test_changed_validation_pairs_are_refused_on_resume(files_config, pool, tmp_path, monkeypatch):
    train(files_config(**PAIRS, validation_source="a\n", validation_target="A\n"), tmp_path / "run", models=pool)
    changed = files_config(**PAIRS, validation_source="b\n", validation_target="B\n")
    with pytest.raises(InputError, match=r"The validation pairs are not those .* its best score means nothing"):
        train(changed, tmp_path / "run", resume=True, models=pool)

    # Without a best score, there is nothing to compare.
    train(files_config(**PAIRS), tmp_path / "unmeasured", models=pool)
    train(changed, tmp_path / "unmeasured", resume=True, models=pool)

    # An older version saved no fingerprint of the validation pairs.
    from_dict = TrainingState.from_dict

    def forgetting_validation(saved):
        return from_dict({key: value for key, value in saved.items() if key != "validation"})

    monkeypatch.setattr(TrainingState, "from_dict", forgetting_validation)
    train(changed, tmp_path / "run", resume=True, models=pool)


def test_a_run_that_another_process_trains_is_refused_and_not_changed(smallest_config, pool, tmp_path):
    folder = train(smallest_config("training.epochs=1"), tmp_path / "run", models=pool)
    before = {path: path.stat().st_mtime_ns for path in folder.path.rglob("*") if path.is_file()}
    with alone_in(folder, "trains a run"), pytest.raises(InputError, match=r"Another process trains a run in .*run"):
        train(smallest_config("training.epochs=2"), tmp_path / "run", resume=True, models=pool)
    assert {path: path.stat().st_mtime_ns for path in folder.path.rglob("*") if path.is_file()} == before


def test_a_clock_that_goes_back_changes_nothing(smallest_config, pool, final_state, tmp_path, monkeypatch):
    config = smallest_config("training.ema_momentum=0.5")
    expected = train(config, tmp_path / "unbroken", models=pool)
    folder = train(smallest_config("training.ema_momentum=0.5", "training.epochs=1"), tmp_path / "run", models=pool)
    for path in folder.checkpoints.iterdir():
        os.utime(path, (4e9, 4e9))  # later than what follows
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 1e9)
    train(config, tmp_path / "run", resume=True, models=pool)
    (state, arrays), (expected_state, expected_arrays) = final_state(folder.path), final_state(expected.path)
    assert (state["step"], state["best_epoch"]) == (expected_state["step"], expected_state["best_epoch"]) == (6, 2)
    for name, values in expected_arrays.items():
        np.testing.assert_allclose(arrays[name], values, rtol=1e-4, atol=1e-6, err_msg=name)


def test_a_clock_before_1980_is_refused_at_once(smallest_config, tmp_path, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    with pytest.raises(InputError, match=r"The clock of this machine says that it is the year 1970.*Set the clock"):
        train(smallest_config(), tmp_path / "run")
    assert not (tmp_path / "run").exists()
