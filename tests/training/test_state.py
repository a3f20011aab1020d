"""The best scores of a run."""

import math

import pytest

from bytenet.training.state import TrainingState, early_stop_message


@pytest.mark.parametrize(
    ("metric", "scores", "best"),
    [
        ("val_loss", [3.0, 2.0, 2.0, 2.5, 1.0], [3.0, 2.0, 1.0]),
        ("val_bleu", [3.0, 2.0, 3.0, 4.0], [3.0, 4.0]),
        # The first model is kept in any case. A model whose score is a number replaces it.
        ("val_loss", [math.nan, math.nan, 3.0, math.nan, 2.0], [math.nan, 3.0, 2.0]),
        ("val_bleu", [math.nan, math.nan, 3.0, math.nan, 4.0], [math.nan, 3.0, 4.0]),
    ],
)
def test_each_best_score_replaces_the_one_before(metric, scores, best):
    state = TrainingState()
    improved = [score for epoch, score in enumerate(scores, 1) if state.improve(metric, "forward", score, epoch)]
    assert improved == pytest.approx(best, nan_ok=True)
    assert state.best_scores == {"forward": best[-1]}
    assert state.best_epoch == 1 + scores.index(best[-1])


def test_message_of_an_early_stop_has_the_epochs_since_the_best_score():
    """With an evaluation every second epoch, they may be more than the patience."""
    state = TrainingState(epoch=6, best_epoch=2, best_scores={"forward": 1.0})
    assert early_stop_message(state, "val_bleu") == "val_bleu has not improved in 4 epochs, so training stops early."
