"""The last lines of a training: the models that it leaves, what to do with them, and how it trains longer."""

import shlex
from collections.abc import Collection, Mapping

from bytenet.config import TrainingConfig
from bytenet.run_folder import RunFolder
from bytenet.training.state import TrainingState


def end_message(
    folders: Mapping[str, RunFolder],
    state: TrainingState,
    training: TrainingConfig,
    splits: Collection[str],
    has_tensorflow: bool = True,
) -> str:
    """Where the models of a run are, which ones were kept, and the next commands.

    Args:
        folders: of the translators that the run trained, by direction.
        state: at the end of the training.
        training: settings of the run.
        splits: of the corpus that have pairs.
        has_tensorflow: whether this machine can translate with the model.
    """
    lines = []
    for direction, folder in folders.items():
        model = "model" if len(folders) == 1 else f"{direction} model"
        kept = _kept(direction, len(folders) == 1, state, training)
        lines.append(f"The {model} is {folder.model_path}: {kept}.")
    first, *_ = folders.values()
    lines.append(f"Next: {_next_commands(first, splits) if has_tensorflow else _how_to_copy(first)}")
    return "\n".join(lines)


def finished_message(changes: Mapping[str, str], how: str) -> str:
    """That a run is finished, and how it trains longer.

    Args:
        changes: of `changes_to_train_on`.
        how: to set them; the end of the sentence.
    """
    settings = " and ".join(f"{setting} to {limit}" for setting, limit in changes.items())
    return f"This run is finished. To train longer, set {settings}{how}"


def _next_commands(folder: RunFolder, splits: Collection[str]) -> str:
    path = shlex.quote(str(folder.path))
    if "test" in splits:
        options = ""
    elif "validation" in splits:
        options = " --split validation"
    else:
        options = " --source FILE --reference FILE"
    return f"bytenet translate {path} FILE, or bytenet evaluate {path}{options}"


def _how_to_copy(folder: RunFolder) -> str:
    return f"copy {folder.path} to a machine with TensorFlow. There: bytenet translate RUN FILE"


def _kept(direction: str, is_alone: bool, state: TrainingState, training: TrainingConfig) -> str:
    """Which model of a direction was kept. The epoch of the best score is known if the direction learned alone."""
    metric, score = training.early_stopping_metric, state.best_scores.get(direction)
    if score is None or training.keep_model == "last":
        return f"the last one, after step {state.step:,}"
    when = ""
    if is_alone:
        when = f" from epoch {state.best_epoch}," if state.best_epoch else " before the first step,"
    return f"the one{when} with the best {metric} ({score:.4g})"
