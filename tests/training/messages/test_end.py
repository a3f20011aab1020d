"""The last lines of a training name the model that was kept, and the next commands."""

import pytest

from bytenet.config import TrainingConfig
from bytenet.run_folder import RunFolder
from bytenet.training import train
from bytenet.training.messages.end import end_message
from bytenet.training.state import TrainingState


def _message(folders, scores, epoch, splits=("validation", "test"), **options):
    state = TrainingState(epoch=3, step=1200, best_scores=scores, best_epoch=epoch)
    training = TrainingConfig(keep_model="best", early_stopping_metric="val_loss")
    runs = {name: RunFolder(path) for name, path in folders.items()}
    return end_message(runs, state, training, splits, **options).split("\n")


@pytest.mark.parametrize(
    ("scores", "epoch", "kept"),
    [
        ({}, 0, "the last one, after step 1,200"),  # without validation pairs
        ({"forward": 1.25}, 2, "the one from epoch 2, with the best val_loss (1.25)"),
        ({"forward": 1.25}, 0, "the one before the first step, with the best val_loss (1.25)"),  # a start
    ],
)
def test_the_kept_model_is_named(scores, epoch, kept):
    assert _message({"forward": "runs/my"}, scores, epoch) == [
        f"The model is runs/my/model.keras: {kept}.",
        "Next: bytenet translate runs/my FILE, or bytenet evaluate runs/my",
    ]


def test_only_the_translator_that_learned_is_named():
    assert _message({"backward": "runs/my/backward"}, {"backward": 2.5}, 2) == [
        "The model is runs/my/backward/model.keras: the one from epoch 2, with the best val_loss (2.5).",
        "Next: bytenet translate runs/my/backward FILE, or bytenet evaluate runs/my/backward",
    ]


def test_each_of_two_translators_is_named():
    assert _message({"forward": "my", "backward": "my/backward"}, {"forward": 1.25, "backward": 2.5}, 2) == [
        "The forward model is my/model.keras: the one with the best val_loss (1.25).",
        "The backward model is my/backward/model.keras: the one with the best val_loss (2.5).",
        "Next: bytenet translate my FILE, or bytenet evaluate my",
    ]


@pytest.mark.parametrize(
    ("splits", "options"),
    [(["test"], ""), (["validation"], " --split validation"), ([], " --source FILE --reference FILE")],
)
def test_the_next_command_evaluates_with_pairs_that_there_are(splits, options):
    *_, last = _message({"forward": "my run"}, {}, 0, splits)
    assert last == f"Next: bytenet translate 'my run' FILE, or bytenet evaluate 'my run'{options}"


def test_without_tensorflow_the_next_step_is_to_copy_the_run():
    *_, last = _message({"forward": "runs/my"}, {}, 0, has_tensorflow=False)
    assert last == "Next: copy runs/my to a machine with TensorFlow. There: bytenet translate RUN FILE"


@pytest.mark.parametrize("has_validation", [True, False])
def test_a_corpus_without_test_pairs_is_noticed(
    smallest_config, without_validation, beginnings, tmp_path, capsys, has_validation
):
    validation = [f"data.validation_{side}={tmp_path / 'text'}" for side in ("source", "target")]
    train(smallest_config(*without_validation, *(validation if has_validation else ())), tmp_path / "run")
    options = "--split validation" if has_validation else "--source FILE --reference FILE"
    assert capsys.readouterr().err.endswith(f"bytenet evaluate {tmp_path / 'run'} {options}\n")
