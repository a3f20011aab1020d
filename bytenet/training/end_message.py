"""The last lines of a training: the model that it leaves, and what to do with it."""

from bytenet.config import TrainingConfig
from bytenet.run_folder import RunFolder
from bytenet.training.state import TrainingState


def end_message(run: RunFolder, state: TrainingState, training: TrainingConfig) -> str:
    """Where the model of a run is, which one was kept, and the next commands.

    Args:
        run: its folder.
        state: at the end of the training.
        training: settings of the run.
    """
    return (
        f"The model is {run.model_path}: {_kept(state, training)}.\n"
        f"Next: bytenet translate {run.path} FILE, or bytenet evaluate {run.path}"
    )


def _kept(state: TrainingState, training: TrainingConfig) -> str:
    """Which model of a training was kept."""
    metric, scores = training.early_stopping_metric, state.best_scores
    if not scores or training.keep_model == "last":
        return f"the last one, after step {state.step:,}"
    if len(scores) > 1:
        return f"the one with its best {metric}"
    [score] = scores.values()
    when = f"after epoch {state.best_epoch}" if state.best_epoch else "before the first step"
    return f"the one {when}, with the best {metric} ({score:.4g})"
