"""Checkpoints from which a run goes on exactly as if it had never stopped.

A checkpoint is one `.npz` file with every variable that training changes, each under its number and path, and
the training state as JSON. Variables are listed one by one because `tf.train.Checkpoint(model=...)` passes
over layers that a model holds in Python lists, without a word.
"""

import json
import os
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np

from bytenet.config import Config
from bytenet.datasets import Vocabulary
from bytenet.errors import InputError, MissingFileError
from bytenet.files import atomic_path
from bytenet.run_folder import RunFolder
from bytenet.training.optimizers import translators_of
from bytenet.training.state import TrainingState

_NAME = re.compile(r"step-(\d+)\.npz")
_STATE_KEY = "training_state"
# Settings of a model that change neither its weights nor what it computes with them. (Variant and settings choose the
# values of other settings, and those are compared.)
_MAY_DIFFER = ("name", "dtype", "dropout", "variant", "settings")
_PROCESS_WIDE_NUMBER = re.compile(r"seed_generator_\d+/")


def training_variables(model: keras.Model) -> dict[str, keras.Variable]:
    """Every variable of a compiled, built model that training changes, under a unique name.

    Weights, running statistics, random states of the dropout layers, the optimiser's variables, and the
    metrics of the epoch begun. The names do not depend on what else the process has made.
    """
    named = {}
    optimizers = [translator.optimizer for translator in translators_of(model)]
    for group, variables in (
        ("model", model.variables),
        ("optimizer", [variable for optimizer in optimizers for variable in optimizer.variables]),
        ("metrics", model.metrics_variables),
    ):
        for index, variable in enumerate(variables):
            # Keras numbers seed generators through the whole process, so that their paths differ between models.
            path = _PROCESS_WIDE_NUMBER.sub("seed_generator/", variable.path)
            named[f"{group}/{index:04d}/{path}"] = variable
    return named


def save_checkpoint(folder: Path, model: keras.Model, state: TrainingState, keep: int) -> Path:
    """Save model, optimiser and state as `folder/step-XXXXXXXX.npz`, whole or not at all.

    Args:
        folder: made if it is not there.
        model: compiled and built, with a built optimiser.
        state: where the run stands.
        keep: number of checkpoints to keep, the latest ones.

    Raises:
        InputError: the disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: keras.ops.convert_to_numpy(variable) for name, variable in training_variables(model).items()}
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


def restore_checkpoint(path: Path, model: keras.Model) -> TrainingState:
    """Put a checkpoint's values into the model, its optimiser and metrics; return the state.

    Raises:
        MissingFileError: there is no such file.
        InputError: the file is damaged, or was made for another model; the model is unchanged.
    """
    if not path.exists():
        raise MissingFileError(f"There is no checkpoint {path}.")
    variables = training_variables(model)
    try:
        with np.load(path) as saved:
            arrays = {name: saved[name] for name in saved.files}
    except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
        raise InputError(
            f"The checkpoint {path} is damaged ({error}). Delete it; the run then resumes from the one before."
        ) from error
    state = arrays.pop(_STATE_KEY, None)
    differing = sorted(set(arrays) ^ set(variables)) or [
        name for name, variable in variables.items() if arrays[name].shape != tuple(variable.shape)
    ]
    if differing or state is None:
        raise InputError(
            f"The checkpoint {path} does not fit this model: {len(differing)} variables differ, first "
            f"{differing[0] if differing else _STATE_KEY}. It was saved by a run with another configuration or by "
            "another version; resume with the configuration in its run folder, unchanged."
        )
    for name, variable in variables.items():
        variable.assign(arrays[name])
    return TrainingState.from_dict(json.loads(state.tobytes()))


def latest_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint in a folder, if there is any."""
    found = checkpoints(folder)
    return found[-1] if found else None


def save_model(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Save a model for use, without its optimiser, as `.keras`, whole or not at all.

    The file loads on any Keras backend, as the optimiser, which needs TensorFlow, is not in it.
    """
    copy = type(model).from_config(model.get_config())
    copy.build({"source_ids": (None, None), "target_ids": (None, None)})
    copy.set_weights(model.get_weights())
    with atomic_path(path) as partial:
        copy.save(partial)


def load_starts(translators: Sequence[keras.Model], config: Config, vocabulary: Vocabulary) -> None:
    """Give two translators the weights of the finished runs that they are to begin with, where there are such.

    Args:
        translators: forward and backward.
        config: of the run, whose `semi_supervised.start_forward` and `start_backward` name them.
        vocabulary: of the run.

    Raises:
        MissingFileError: there is no such run, or it has no model yet.
        InputError: its model, its vocabulary or its direction is another.
    """
    languages = config.data.languages
    for translator, (direction, start) in zip(translators, config.semi_supervised.starts.items(), strict=True):
        if start is not None:
            folder = RunFolder.open(start)
            _check_direction(folder, direction, languages if direction == "forward" else languages[::-1])
            _load_start(translator, folder, vocabulary)


def _check_direction(folder: RunFolder, direction: str, languages: tuple[str, str]) -> None:
    """Raise an InputError if a run reads and writes other languages; of both directions models fit alike."""
    theirs = folder.config.data.languages
    if theirs != languages:
        raise InputError(
            f"The run in {folder.path} translates {' to '.join(theirs)}, but the {direction} translator is to "
            f"translate {' to '.join(languages)}. A run of the other direction is trained with --set "
            "data.reversed=true; where only the names are wrong, correct them in its config.yaml."
        )


def _load_start(model: keras.Model, folder: RunFolder, vocabulary: Vocabulary) -> None:
    if folder.vocabulary != vocabulary:
        raise InputError(
            f"The run in {folder.path} has another vocabulary than this one, so its model cannot be started from. "
            "Train it on the same pairs, with the same data.unknown and data.min_character_count."
        )
    start = folder.load_model()
    own, given = model.get_config(), start.get_config()
    changed = [
        f"{key} {given.get(key)!r} there, {own[key]!r} here"
        for key in own
        if key not in _MAY_DIFFER and own[key] != given.get(key)
    ]
    if changed:
        raise InputError(f"The model of the run in {folder.path} is another: {'; '.join(changed)}.")
    named = {weight.path.partition("/")[2]: weight for weight in start.weights}
    for weight in model.weights:
        weight.assign(named[weight.path.partition("/")[2]])
