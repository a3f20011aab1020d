"""Checkpoints from which a run goes on exactly as if it had never stopped.

A checkpoint is one `.npz` file. It contains every variable that training changes, under its number and path, and the
training state as JSON. Variables are listed one by one, because `tf.train.Checkpoint(model=...)` silently skips layers
that a model holds in Python lists.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pydantic

from bytenet.config import Config
from bytenet.errors import MOST_SHOWN_CHARS, InputError, MissingFileError, shortened
from bytenet.files import atomic_path
from bytenet.limits import parse_json
from bytenet.run_folder import RunFolder
from bytenet.saved.array_file import ArrayDescription, ArrayFile, open_arrays
from bytenet.training.checkpoints.files import (
    checkpoints,
    help_with_damage,
    latest_checkpoint,
    note_first,
    path_of_step,
)
from bytenet.training.state import TrainingState

_STATE_KEY = "training_state"
_MOST_STATE_BYTES = 1 << 20  # it has about 3,000
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
    optimizers = [translator.optimizer for translator in translators]
    return (
        _named("model", model.variables)
        | _named("optimizer", [variable for optimizer in optimizers for variable in optimizer.variables])
        | _named("metrics", model.metrics_variables)
    )


def variables_of_translator(translator: keras.Model, number: int) -> dict[str, keras.Variable]:
    """The variables of one translator of a run, under their names in `training_variables` of the whole run.

    Args:
        translator: any model of its kind, such as the one that the run has saved.
        number: of the translator: 0 is forward, 1 is backward. All have the same number of variables.
    """
    return _named("model", translator.variables, first=number * len(translator.variables))


def _named(group: str, variables: Sequence[keras.Variable], first: int = 0) -> dict[str, keras.Variable]:
    """Variables by their group, number and path. The first one has the number `first`."""
    named = {}
    for number, variable in enumerate(variables, first):
        path = _PROCESS_WIDE_NUMBER.sub(r"\1\2", variable.path)
        named[f"{group}/{number:04d}/{path}"] = variable
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
    path = path_of_step(folder, state.step)
    with atomic_path(path) as partial, open(partial, "wb") as file:
        np.savez(file, **arrays)
    note_first(folder)
    for old in checkpoints(folder)[:-keep]:
        old.unlink()
    return path


def spread_metric_sums(model: keras.Model) -> None:
    """Spread the sums of the metrics equally over the replicas, as in a run that is resumed from a checkpoint.

    Otherwise the loss of an epoch would be rounded differently in a resumed run.
    """
    for variable in model.metrics_variables:
        variable.assign(keras.ops.convert_to_numpy(variable))


def restore_checkpoint(
    path: Path,
    model: keras.Model,
    translators: Sequence[keras.Model],
    check: Callable[[TrainingState], None] = lambda state: None,
) -> TrainingState:
    """Put the values of a checkpoint into the model, its optimisers and metrics, and return the state.

    Everything is read and checked before anything is restored. What the file says of an array is compared with the
    variable before memory for it is allocated.

    Args:
        path: of the checkpoint.
        model, translators: as for `training_variables`.
        check: raises an InputError if the run cannot go on from this state.

    Raises:
        MissingFileError: there is no such file.
        InputError: the file is damaged, or was made for another model, or `check` fails; the model is unchanged.
    """
    variables = training_variables(model, translators)
    with _open_checkpoint(path) as saved:
        _check_fit(path, saved.descriptions, variables)
        arrays = {name: saved.read(name) for name in variables}
        state = _state_in(saved)
    check(state)
    for name, variable in variables.items():
        variable.assign(arrays[name])
    return state


def restore_run(
    path: Path, model: keras.Model, translators: Sequence[keras.Model], fresh: TrainingState, num_batches: int
) -> TrainingState:
    """Put the values of a checkpoint into the model, and return its state, for a run on the present data.

    Args:
        path, model, translators: as for `restore_checkpoint`.
        fresh: state with the fingerprints of the present data and the present settings, which
            `check_settings_of_checkpoint` has accepted.
        num_batches: in an epoch.

    Raises:
        InputError: the checkpoint cannot be used, or belongs to other data; the model is unchanged.
    """
    state = restore_checkpoint(path, model, translators, lambda state: _check_state(state, path, fresh, num_batches))
    note_first(path.parent)  # a kill right after the first checkpoint prevents it
    # Earlier versions saved neither. Of the settings, some values may have changed.
    return replace(state, validation=fresh.validation, settings=fresh.settings)


def check_settings_of_checkpoint(run: RunFolder, config: Config) -> None:
    """Check that a run can go on with a configuration from its latest checkpoint, if it has one.

    `RunFolder.check_settings` alone does not see what was edited in `config.yaml`. Only the state is read.

    Raises:
        InputError: a setting differs that must stay the same, or the checkpoint is damaged.
    """
    path = latest_checkpoint(run.checkpoints)
    if path is None:
        return
    with _open_checkpoint(path) as saved:
        state = _state_in(saved)
    run.check_settings(config, state.settings)


def _check_state(state: TrainingState, checkpoint: Path, fresh: TrainingState, num_batches: int) -> None:
    """Raise an InputError if a run on the present data cannot go on from a state.

    Args:
        state: of the checkpoint.
        checkpoint: its file.
        fresh: state with the fingerprints of the present data.
        num_batches: in an epoch.
    """
    if state.data != fresh.data:
        raise InputError(
            f"The training data or its batches are not those that the run of {checkpoint} began with, so the place in "
            "the data that the checkpoint names means nothing. Bring back the same texts, settings of data and number "
            "of devices; or start a new run in another folder."
        )
    if state.best_scores and state.validation not in ("", fresh.validation):
        raise InputError(
            f"The validation pairs are not those that the run of {checkpoint} was measured on, so its best score means "
            "nothing. Bring them back, or start a new run in another folder."
        )
    if state.step != state.epoch * num_batches + state.batch or state.batch >= num_batches:
        raise InputError(
            f"The checkpoint {checkpoint} is damaged: step {state.step} is not batch {state.batch} of epoch "
            f"{state.epoch + 1} with {num_batches} batches. {help_with_damage(checkpoint)}"
        )


def read_variables(path: Path, variables: Mapping[str, keras.Variable]) -> dict[str, np.ndarray]:
    """Read the values of some variables of a checkpoint. What is not read is not checked.

    Args:
        path: of the checkpoint.
        variables: by their names in the checkpoint. They do not change.

    Raises:
        MissingFileError: there is no such file.
        InputError: the file is damaged, or was made for another model.
    """
    with _open_checkpoint(path) as saved:
        present = variables.keys() & saved.descriptions.keys()
        _check_fit(path, {name: saved.descriptions[name] for name in present}, variables)
        return {name: saved.read(name) for name in variables}


@contextmanager
def _open_checkpoint(path: Path) -> Iterator[ArrayFile]:
    """Open a checkpoint for reading. Errors of reading become an InputError that says what to do."""
    if not path.exists():
        raise MissingFileError(f"There is no checkpoint {path}.")
    try:
        with open_arrays(path) as saved:
            yield saved
    except _MisfitError:
        raise
    except (InputError, pydantic.ValidationError) as error:
        raise InputError(
            f"The checkpoint {path} is damaged ({shortened(str(error), MOST_SHOWN_CHARS)}). {help_with_damage(path)}"
        ) from error


def _state_in(saved: ArrayFile) -> TrainingState:
    """The state in a checkpoint. Raises an InputError if there is none."""
    state = saved.descriptions.get(_STATE_KEY)
    if state is None or state.dtype != np.uint8 or len(state.shape) != 1 or state.shape[0] > _MOST_STATE_BYTES:
        raise InputError(f"it has no array {_STATE_KEY} of at most {_MOST_STATE_BYTES} bytes")
    return TrainingState.from_dict(parse_json(saved.read(_STATE_KEY).tobytes(), dict[str, Any], "its state", "JSON"))


class _MisfitError(InputError):
    """A complete checkpoint of another model."""


def _check_fit(path: Path, saved: Mapping[str, ArrayDescription], variables: Mapping[str, keras.Variable]) -> None:
    """Raise an InputError if a checkpoint has other arrays than a model has variables."""
    names = set(saved) - {_STATE_KEY}
    differing = sorted(names ^ set(variables)) or [
        name
        for name, variable in variables.items()
        if (saved[name].shape, saved[name].dtype) != (tuple(variable.shape), _dtype(variable))
    ]
    if differing:
        raise _MisfitError(
            f"The checkpoint {path} does not fit this model: {len(differing)} variables differ; the first is "
            f"{shortened(differing[0], MOST_SHOWN_CHARS)}. It was saved with another configuration or by another "
            "version. Use those that the run began with, or start a new run in another folder."
        )


def _dtype(variable: keras.Variable) -> np.dtype:
    """The type of a variable's values as a NumPy array."""
    return keras.ops.convert_to_numpy(keras.ops.zeros((), variable.dtype)).dtype
