"""Checkpoints from which a run goes on exactly as if it had never stopped.

A checkpoint is one `.npz` file. It contains every variable that training changes, under its number and path, and the
training state as JSON. Variables are listed one by one, because `tf.train.Checkpoint(model=...)` silently skips layers
that a model holds in Python lists.
"""

import json
import os
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np

from bytenet.errors import InputError, MissingFileError
from bytenet.files import atomic_path
from bytenet.training.state import TrainingState

_NAME = re.compile(r"step-(\d+)\.npz")
_STATE_KEY = "training_state"
# Keras numbers seed generators and variables without a name through the whole process.
_PROCESS_WIDE_NUMBER = re.compile(r"(seed_generator|^variable)_\d+(/|$)")


def training_variables(model: keras.Model, translators: Sequence[keras.Model]) -> dict[str, keras.Variable]:
    """Every variable that training changes, under a unique name.

    These are the weights, running statistics, random states of the dropout layers, variables of the optimisers, and
    metrics of the present epoch. The names do not depend on what else the process has made.

    Args:
        model: the model that `fit` trains, compiled and built.
        translators: the models within it that have optimisers.
    """
    named = {}
    optimizers = [translator.optimizer for translator in translators]
    for group, variables in (
        ("model", model.variables),
        ("optimizer", [variable for optimizer in optimizers for variable in optimizer.variables]),
        ("metrics", model.metrics_variables),
    ):
        for index, variable in enumerate(variables):
            path = _PROCESS_WIDE_NUMBER.sub(r"\1\2", variable.path)
            named[f"{group}/{index:04d}/{path}"] = variable
    return named


def save_checkpoint(
    folder: Path, model: keras.Model, translators: Sequence[keras.Model], state: TrainingState, keep: int
) -> Path:
    """Save model, optimisers and state as `folder/step-XXXXXXXX.npz`, whole or not at all.

    Args:
        folder: made if it does not exist.
        model, translators: as for `training_variables`, with built optimisers.
        state: of the run.
        keep: number of checkpoints to keep. Older ones are deleted.

    Raises:
        InputError: the disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    variables = training_variables(model, translators)
    arrays = {name: keras.ops.convert_to_numpy(variable) for name, variable in variables.items()}
    arrays[_STATE_KEY] = np.frombuffer(json.dumps(state.to_dict()).encode(), "uint8")
    path = folder / f"step-{state.step:08d}.npz"
    with atomic_path(path) as partial, open(partial, "wb") as file:
        np.savez(file, **arrays)
    for old in checkpoints(folder)[:-keep]:
        old.unlink()
    return path


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))


def restore_checkpoint(path: Path, model: keras.Model, translators: Sequence[keras.Model]) -> TrainingState:
    """Put the values of a checkpoint into the model, its optimisers and metrics, and return the state.

    Args:
        path: of the checkpoint.
        model, translators: as for `training_variables`.

    Raises:
        MissingFileError: there is no such file.
        InputError: the file is damaged, or was made for another model; the model is unchanged.
    """
    if not path.exists():
        raise MissingFileError(f"There is no checkpoint {path}.")
    variables = training_variables(model, translators)
    try:
        with np.load(path) as saved:
            arrays = {name: saved[name] for name in saved.files}
    except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
        raise InputError(
            f"The checkpoint {path} is damaged ({error}). Delete it; the run then resumes from the one before it."
        ) from error
    state = arrays.pop(_STATE_KEY, None)
    differing = sorted(set(arrays) ^ set(variables)) or [
        name for name, variable in variables.items() if arrays[name].shape != tuple(variable.shape)
    ]
    if differing or state is None:
        raise InputError(
            f"The checkpoint {path} does not fit this model: {len(differing)} variables differ; the first is "
            f"{differing[0] if differing else _STATE_KEY}. It was saved with another configuration or by another "
            "version. Resume with the unchanged configuration in its run folder."
        )
    for name, variable in variables.items():
        variable.assign(arrays[name])
    return TrainingState.from_dict(json.loads(state.tobytes()))


def latest_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint in a folder, if there is any."""
    paths = checkpoints(folder)
    return paths[-1] if paths else None


def save_model(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Save a model for use as `.keras`, whole or not at all.

    The file has no optimiser, which needs TensorFlow, so it can be loaded on every backend of Keras.
    """
    copy = type(model).from_config(model.get_config())
    copy.build({"source_ids": (None, None), "target_ids": (None, None)})
    copy.set_weights(model.get_weights())
    with atomic_path(path) as partial:
        copy.save(partial)
