"""`bytenet average`: later commands use what it writes like a run."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from bytenet.cli.average import average
from bytenet.cli.evaluate import evaluate
from bytenet.cli.export import export
from bytenet.cli.translate import translate
from bytenet.run_folder import RunFolder
from bytenet.training.checkpoints import save_checkpoint
from bytenet.training.state import TrainingState


@pytest.fixture(scope="module")
def run(run_folder, tmp_path_factory):
    """A copy of the run folder with two checkpoints and a moving average. The mean of both is the saved model."""
    run = RunFolder.open(shutil.copytree(run_folder.path, tmp_path_factory.mktemp("average") / "run"))
    run.go_on_with(replace(run.config, training=replace(run.config.training, ema_momentum=0.9)))
    model = run.load_model()
    weights = model.get_weights()
    for step, change in ((1, -0.25), (2, 0.25)):
        model.set_weights([weight + np.float32(change) for weight in weights])
        save_checkpoint(run.checkpoints, model, [], TrainingState(step=step), keep=2)
    return run


@pytest.fixture(scope="module")
def averaged(run):
    """The folder that the command wrote, and its messages."""
    from click.testing import CliRunner

    out = run.path.with_name("average")
    result = CliRunner().invoke(average, [str(run.path), str(out), "--last", "2"])
    assert (result.exit_code, result.stdout) == (0, "")
    return out, result.stderr


def test_messages_say_what_was_averaged_and_what_was_not(run, averaged):
    out, messages = averaged
    assert messages.startswith(f"Averaged step-00000001.npz, step-00000002.npz into {out}.\n")
    assert f"Not used: the moving averages of the weights (training.ema_momentum), which {run.model_path}" in messages


def test_average_translates_evaluates_and_exports_like_a_run(run, averaged, invoke):
    out, _ = averaged
    text = "ein Hund\nzwei Häuser\n".encode()
    expected = invoke(translate, run.path, "--no-xla", stdin=text).stdout
    assert invoke(translate, out, "--no-xla", stdin=text).stdout == expected
    assert invoke(evaluate, out, "--no-xla").stdout == invoke(evaluate, run.path, "--no-xla").stdout
    assert (out / "evaluation" / "test.json").is_file()
    invoke(export, out, out.with_suffix(".bytenet"), "--engine", "full")
    assert invoke(translate, out.with_suffix(".bytenet"), "--no-xla", stdin=text).stdout == expected


def test_last_is_at_least_two(run, invoke):
    result = invoke(average, run.path, run.path.with_name("other"), "--last", 1)
    assert result.exit_code == 2
    assert "1 is not in the range x>=2" in result.stderr
