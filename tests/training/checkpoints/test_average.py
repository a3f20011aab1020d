"""The average of checkpoints is the mean of their weights, in a folder that later commands can use."""

import math

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.decoding import Translator
from bytenet.errors import InputError, MissingFileError
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.checkpoints import checkpoints, save_checkpoint
from bytenet.training.checkpoints.average import average_checkpoints
from bytenet.training.losses import SentenceCrossEntropy
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.state import TrainingState

from ...contract.cases import randomize


@pytest.fixture
def run(supervised_run):
    """A finished run without checkpoints. Its model has dropout, batch normalisation and averages of the weights."""
    return supervised_run("run", "model.dropout=0.1", "training.keep_checkpoints=4")


@pytest.fixture
def add_checkpoint(run):
    """A function that saves a checkpoint with random weights, and returns the weights."""
    model = build_model(run.config.model, run.vocabulary.size)
    model.compile(FlatAdam(1e-2, ema_momentum=0.5), SentenceCrossEntropy())
    model.optimizer.build(model.trainable_variables)

    def add(step, seed):
        randomize(model, seed)
        save_checkpoint(run.checkpoints, model, [model], TrainingState(step=step), keep=4)
        return [convert_to_numpy(weight) for weight in model.weights]

    return add


def test_average_of_equal_checkpoints_is_the_checkpoint(run, add_checkpoint, model_weights, assert_equal_weights):
    for step in (1, 2, 3):
        weights = add_checkpoint(step, seed=7)
    average_checkpoints(run.path, run.path.with_name("average"))
    assert_equal_weights(model_weights(run.path.with_name("average")), weights)


def test_average_of_two_checkpoints_is_their_mean_running_statistics_included(run, add_checkpoint, model_weights):
    _, *two = (add_checkpoint(step, seed=step) for step in (1, 2, 10))
    names = average_checkpoints(run.path, run.path.with_name("average"), last=2)
    assert names == ["step-00000002.npz", "step-00000010.npz"]
    averaged = model_weights(run.path.with_name("average"))
    paths = [weight.path for weight in run.load_model().weights]
    assert sum("moving_" in path for path in paths) == 6
    for path, mean, one, other in zip(paths, averaged, *two, strict=True):
        np.testing.assert_allclose(mean, (one + other) / 2, rtol=1e-6, err_msg=path)


def test_folder_has_what_later_commands_need_and_no_checkpoints(run, add_checkpoint, monkeypatch):
    run.environment_path.write_text('{"commands": ["bytenet train x"], "seed": 1, "trained_lengths": [18]}')
    for step in (1, 2):
        add_checkpoint(step, seed=step)
    monkeypatch.setattr("sys.argv", ["bytenet", "average", "run", "average"])
    out = run.path.with_name("average")
    average_checkpoints(run.path, out)
    folder = RunFolder.open(out)
    assert (folder.config, folder.vocabulary) == (run.config, run.vocabulary)
    assert folder.environment() == {
        "commands": ["bytenet train x", "bytenet average run average"], "seed": 1, "trained_lengths": [18],
    }  # fmt: skip
    assert sorted(path.name for path in out.iterdir()) == [
        "config.yaml", "environment.json", "model.keras", "vocabulary.json",
    ]  # fmt: skip
    [[translation]] = Translator.from_run(out, beam_size=1).translate(["one two"])
    assert math.isfinite(translation.log_probability)


@pytest.mark.parametrize("part", ["", "backward"])
def test_each_translator_of_a_semi_supervised_run_is_averaged(
    semi_config, pool, unmeasured, model_weights, tmp_path, part
):
    config = semi_config("training.checkpoint_every_steps=1", "training.max_steps=2", "training.ema_momentum=null")
    run = train(config, tmp_path / "run", models=pool)
    average_checkpoints(run.path / part, tmp_path / "average")
    values = []
    for path in checkpoints(run.checkpoints):
        with np.load(path) as saved:
            weights = [saved[name] for name in saved.files if name.startswith("model/")]
        values.append(weights[len(weights) // 2 :] if part else weights[: len(weights) // 2])
    assert len(values) == 2
    for average, one, other in zip(model_weights(tmp_path / "average"), *values, strict=True):
        np.testing.assert_allclose(average, (one + other) / 2, rtol=1e-5, atol=1e-7)
    assert RunFolder.open(tmp_path / "average").config == RunFolder.open(run.path / part).config


@pytest.mark.parametrize(
    ("num_checkpoints", "last", "message"),
    [
        (0, None, r"has 0 checkpoints; expected at least 2 to average\. A run keeps its newest 4 \("),
        (1, None, r"has 1 checkpoint; .*=4 and --set training\.checkpoint_every_steps=N, .* of them\.$"),
        (2, 5, r"has 2 checkpoints; expected at least 5 .*=5 and .* of them\. Or average fewer: --last 2\.$"),
    ],
)
def test_too_few_checkpoints_are_refused_with_advice(run, add_checkpoint, num_checkpoints, last, message):
    for step in range(num_checkpoints):
        add_checkpoint(step, seed=step)
    with pytest.raises(InputError, match=message):
        average_checkpoints(run.path, run.path.with_name("average"), last)
    assert not run.path.with_name("average").exists()


def test_other_mistakes_are_refused_and_leave_nothing(run, add_checkpoint):
    out = run.path.with_name("average")
    with pytest.raises(InputError, match="exists already"):
        average_checkpoints(run.path, run.path)
    with pytest.raises(MissingFileError, match="there is no folder"):
        average_checkpoints(run.path, run.path.with_name("nowhere") / "average")
    with pytest.raises(MissingFileError, match="does not exist; expected the folder of a run"):
        average_checkpoints(run.path.with_name("nowhere"), out)
    for step in (1, 2):
        add_checkpoint(step, seed=step)
    newest = checkpoints(run.checkpoints)[-1]
    newest.write_bytes(newest.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"step-00000002\.npz is damaged"):
        average_checkpoints(run.path, out)
    newest.unlink()
    wider = build_model(run.config.model, run.vocabulary.size + 1)
    wider.compile(FlatAdam(1e-2), SentenceCrossEntropy())
    wider.optimizer.build(wider.trainable_variables)
    save_checkpoint(run.checkpoints, wider, [wider], TrainingState(step=2), keep=4)
    with pytest.raises(InputError, match=r"step-00000002\.npz does not fit this model: \d variables differ"):
        average_checkpoints(run.path, out)
    run.model_path.unlink()
    with pytest.raises(MissingFileError, match="training has not saved a model yet"):
        average_checkpoints(run.path, out)
    assert not out.exists()


def test_one_checkpoint_is_no_average(run, tmp_path):
    with pytest.raises(ValueError, match="last is 1; expected 2 or more"):
        average_checkpoints(run.path, tmp_path / "average", last=1)
