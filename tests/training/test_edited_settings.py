"""A run is resumed after an edit of its `config.yaml`. Settings that must stay are refused."""

import pytest

from bytenet.cli.train import train as train_verb
from bytenet.errors import InputError
from bytenet.training import train


@pytest.fixture
def run(smallest_config, eagerly, unmeasured, tmp_path):
    """A finished run."""
    return train(smallest_config("training.epochs=1", "training.ema_momentum=0.5"), tmp_path / "run")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("model.activation=selu", r"model\.activation was 'relu' and is 'selu'"),
        ("model.dim=8", r"model\.dim was 4 and is 8"),  # other variables than those of the checkpoint
        (
            "training.early_stopping_metric=val_bleu",
            r"training\.early_stopping_metric was 'val_loss' and is 'val_bleu'",
        ),
        ("training.seed=2", r"training\.seed was 1 and is 2"),
    ],
)
def test_edit_of_a_setting_that_must_stay_is_refused(run, edit, invoke, setting, message):
    edit(run, "training.epochs=2", setting)
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=rf"The run in .* cannot go on with other settings: {message}\. Leave these"):
        invoke(train_verb, "--run", run.path, "--resume")
    assert {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()} == before


def test_edits_of_other_settings_are_followed(run, edit, invoke, final_state):
    edit(run, "training.epochs=2", "training.ema_momentum=0.25")
    assert invoke(train_verb, "--run", run.path, "--resume").exit_code == 0
    state, _ = final_state(run.path)
    assert state["epoch"] == 2
    assert state["settings"]["training.ema_momentum"] == 0.25
    edit(run, "training.ema_momentum=null")
    with pytest.raises(InputError, match=r"training\.ema_momentum was 0\.25 and is None"):
        invoke(train_verb, "--run", run.path, "--resume")


def test_edits_in_a_run_of_an_older_version_are_not_seen(run, edit, invoke, final_state, older_state):
    edit(run, "training.epochs=2", "model.activation=selu")
    assert invoke(train_verb, "--run", run.path, "--resume").exit_code == 0
    state, _ = final_state(run.path)
    assert (state["epoch"], state["settings"]["model.activation"]) == (2, "selu")
