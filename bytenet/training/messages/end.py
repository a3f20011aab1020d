"""The last lines of a training: the models that it leaves, and what to do with them."""

import shlex
from collections.abc import Mapping

from bytenet.config import TrainingConfig
from bytenet.run_folder import RunFolder
from bytenet.training.state import TrainingState


def end_message(folders: Mapping[str, RunFolder], state: TrainingState, training: TrainingConfig) -> str:
    """Where the models of a run are, which ones were kept, and the next commands.

    Args:
        folders: of the translators that the run trained, by direction.
        state: at the end of the training.
        training: settings of the run.
    """
    lines = []
    for direction, folder in folders.items():
        model = "model" if len(folders) == 1 else f"{direction} model"
        kept = _kept(direction, len(folders) == 1, state, training)
        lines.append(f"The {model} is {folder.model_path}: {kept}.")
    first, *_ = folders.values()
    path = shlex.quote(str(first.path))
    lines.append(f"Next: bytenet translate {path} FILE, or bytenet evaluate {path}")
    return "\n".join(lines)


def _kept(direction: str, is_alone: bool, state: TrainingState, training: TrainingConfig) -> str:
    """Which model of a direction was kept. The epoch of the best score is known if the direction learned alone."""
    metric, score = training.early_stopping_metric, state.best_scores.get(direction)
    if score is None or training.keep_model == "last":
        return f"the last one, after step {state.step:,}"
    when = ""
    if is_alone:
        when = f" from epoch {state.best_epoch}," if state.best_epoch else " before the first step,"
    return f"the one{when} with the best {metric} ({score:.4g})"
