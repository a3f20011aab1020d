"""The last lines of a training name the model that was kept."""

import pytest

from bytenet.config import TrainingConfig
from bytenet.run_folder import RunFolder
from bytenet.training.end_message import end_message
from bytenet.training.state import TrainingState


@pytest.mark.parametrize(
    ("scores", "epoch", "kept"),
    [
        ({}, 0, "the last one, after step 1,200"),  # without validation pairs
        ({"forward": 1.25}, 2, "the one after epoch 2, with the best val_loss (1.25)"),
        ({"forward": 1.25}, 0, "the one before the first step, with the best val_loss (1.25)"),  # a start
        ({"forward": 1.25, "backward": 2.5}, 2, "the one with its best val_loss"),
    ],
)
def test_the_kept_model_is_named(scores, epoch, kept):
    state = TrainingState(epoch=3, step=1200, best_scores=scores, best_epoch=epoch)
    training = TrainingConfig(keep_model="best", early_stopping_metric="val_loss")
    first, second = end_message(RunFolder("runs/my"), state, training).split("\n")
    assert first == f"The model is runs/my/model.keras: {kept}."
    assert second == "Next: bytenet translate runs/my FILE, or bytenet evaluate runs/my"
