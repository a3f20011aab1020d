"""A prepared run goes on where it stopped. What cannot go on is refused."""

import shutil

import numpy as np
import pytest

from bytenet.csv_log import read_csv_log
from bytenet.errors import ConfigError, InputError, MissingFileError
from bytenet.training.prepared.fitting import fit_prepared
from bytenet.training.prepared.preparation import prepare


class _StoppedError(Exception):
    """The end of a process."""


def test_stopped_fit_goes_on_to_the_same_end(
    smallest_config, prepared, tmp_path, equal_final_states, model_weights, eagerly
):
    overrides = ("model.dropout=0.2", "training.ema_momentum=0.5", "training.epochs=3")
    whole = prepared("whole", *overrides)
    stopped = prepare(smallest_config(*overrides), tmp_path / "stopped").run

    def stop(line):
        if line.startswith("epoch 2"):  # its checkpoint is not saved yet
            raise _StoppedError

    with pytest.raises(_StoppedError):
        fit_prepared(stopped, stop)
    lines: list[str] = []
    fit_prepared(stopped, lines.append)
    assert "resumed from step-00000003.npz, after epoch 1" in lines
    state, _ = equal_final_states(stopped.path, whole.path)
    assert (state["epoch"], state["step"]) == (3, 9)
    for one, other in zip(model_weights(stopped.path), model_weights(whole.path), strict=True):
        np.testing.assert_array_equal(one, other)
    assert read_csv_log(stopped.metrics_path)["epoch"] == [1, 2, 3]
    fit_prepared(stopped, lines.append)
    assert lines[-1] == "This run is finished. To train longer, set training.epochs to more than 3 in its config.yaml."


def test_run_that_was_not_prepared_is_refused(supervised_run):
    with pytest.raises(
        MissingFileError, match=r"not prepared by `bytenet prepare`\. Continue it with `bytenet train --resume"
    ):
        fit_prepared(supervised_run("run").path)


def test_trained_model_without_its_checkpoints_is_not_fitted_again(prepared, eagerly):
    run = prepared("run", "training.epochs=1")
    shutil.rmtree(run.checkpoints)
    before = run.model_path.read_bytes()
    with pytest.raises(InputError, match="has a trained model, but no checkpoint"):
        fit_prepared(run)
    assert run.model_path.read_bytes() == before


@pytest.mark.parametrize("name", ["start.keras", "validation.npz"])
def test_incomplete_copy_is_refused(smallest_config, supervised_run, tmp_path, name):
    start = [f"training.start={supervised_run('start').path}"] if name == "start.keras" else []
    folder = prepare(smallest_config(*start), tmp_path / "run")
    (folder.run.prepared / name).unlink()
    with pytest.raises(MissingFileError, match=rf"{name} is missing\. Copy the whole folder again"):
        fit_prepared(folder.run)


def test_folder_that_was_not_prepared_is_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"is not a prepared run: .* Make it with `bytenet prepare "):
        fit_prepared(tmp_path / "nothing")


def test_run_that_ended_inside_an_epoch_does_not_go_on(prepared, edit, eagerly):
    lines: list[str] = []
    run = prepared("run", "training.epochs=9", "training.max_steps=4", say=lines.append)
    losses = read_csv_log(run.metrics_path)["val_loss"]
    assert losses[1] < losses[0]
    assert f"the one from epoch 2, with the best val_loss ({losses[1]:.4g})" in lines[-1]
    lines.clear()
    fit_prepared(run, lines.append)
    assert [line.partition(",")[0] for line in lines] == ["This run ended at batch 1 of epoch 2"]
    edit(run, "training.max_steps=8")
    with pytest.raises(InputError, match=r"ended at batch 1 of epoch 2, because of training\.max_steps"):
        fit_prepared(run)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("model.activation=selu", r"model\.activation was 'relu' and is 'selu'"),
        ("model.dim=8", r"model\.dim was 4 and is 8"),
        (
            "training.early_stopping_metric=val_bleu",
            r"training\.early_stopping_metric was 'val_loss' and is 'val_bleu'",
        ),
        ("training.seed=2", r"training\.seed was 1 and is 2"),
        ("data.batch_size=12", r"data\.batch_size was 16 and is 12"),
    ],
)
def test_edit_of_a_setting_that_must_stay_is_refused(prepared, edit, setting, message, eagerly):
    run = prepared("run", "training.epochs=1")
    edit(run, "training.epochs=2", setting)
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=rf"The run in .* cannot go on with other settings: {message}\. Leave these"):
        fit_prepared(run)
    assert {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()} == before


def test_edited_model_that_does_not_fit_the_start_is_refused(smallest_config, supervised_run, edit, tmp_path):
    run = prepare(smallest_config(f"training.start={supervised_run('start').path}"), tmp_path / "run").run
    edit(run, "model.dim=8", "model.dropout=0.1")
    with pytest.raises(InputError, match=r"cannot go on with other settings: model\.dim was 4 and is 8\."):
        fit_prepared(run)
    edit(run, "model.dim=4")
    fit_prepared(run)


def test_edits_of_other_settings_are_followed(prepared, edit, final_state, eagerly):
    run = prepared("run", "training.ema_momentum=0.5", "training.epochs=1")
    edit(run, "training.epochs=2", "training.ema_momentum=0.25")
    fit_prepared(run)
    state, _ = final_state(run.path)
    assert state["epoch"] == 2
    assert state["settings"]["training.ema_momentum"] == 0.25


def test_run_of_an_older_version_does_not_go_on_with_other_batches(prepared, edit, older_state, final_state, eagerly):
    run = prepared("run", "training.epochs=1")
    edit(run, "training.epochs=2", "data.batch_size=12")
    with pytest.raises(InputError, match="The training data or its batches are not those"):
        fit_prepared(run)
    edit(run, "data.batch_size=16")
    fit_prepared(run)
    state, _ = final_state(run.path)
    assert (state["epoch"], state["settings"]["data.batch_size"]) == (2, 16)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.accumulate_batches=4", r"training\.accumulate_batches is 4"),
        ("training.schedule=plateau", r"training\.schedule is plateau"),
    ],
)
def test_settings_that_fit_cannot_follow_are_refused_again(prepared, edit, setting, message, eagerly):
    run = prepared("run")
    edit(run, "training.epochs=3", setting)
    with pytest.raises(ConfigError, match=rf"{message}\. A prepared"):
        fit_prepared(run)
