"""The last lines of a training name the model that was kept."""

import pytest

from bytenet.config import TrainingConfig
from bytenet.run_folder import RunFolder
from bytenet.training.messages.end import end_message
from bytenet.training.state import TrainingState


def _message(folders, scores, epoch):
    state = TrainingState(epoch=3, step=1200, best_scores=scores, best_epoch=epoch)
    training = TrainingConfig(keep_model="best", early_stopping_metric="val_loss")
    return end_message({name: RunFolder(path) for name, path in folders.items()}, state, training).split("\n")


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
