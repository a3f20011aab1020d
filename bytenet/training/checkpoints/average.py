"""One model from the last checkpoints of a run."""

import os
from pathlib import Path

import keras
import numpy as np

from bytenet.errors import InputError
from bytenet.files import atomic_folder
from bytenet.output_paths import check_new_folder
from bytenet.run_folder import RunFolder
from bytenet.saved.keras_model import save_model
from bytenet.training.checkpoints.content import read_variables, variables_of_translator
from bytenet.training.checkpoints.files import checkpoints
from bytenet.training.environment import copy_environment

_FEWEST = 2


def average_checkpoints(
    run_dir: str | os.PathLike[str], out: str | os.PathLike[str], last: int | None = None
) -> list[str]:
    """Average the weights of the last checkpoints of a run into a model in a run folder of its own.

    The weights themselves are averaged, also if the run keeps an exponential moving average of them
    (`training.ema_momentum`). Running statistics of batch normalisation are averaged like weights. They are not
    computed anew for the averaged weights, which would need the training data (Izmailov et al. 2018, "Averaging
    Weights Leads to Wider Optima and Better Generalization").

    Args:
        run_dir: the run folder, or the folder of its backward translator, which is in the checkpoints of the whole run.
        out: a folder that does not exist. It gets the model, the settings, the vocabulary and the environment, and no
            checkpoints.
        last: number of checkpoints, from the newest on, at least 2; None is all that the run has.

    Returns:
        The names of the averaged checkpoints, oldest first.

    Raises:
        MissingFileError: there is no such run, or it has not saved a model yet.
        InputError: the run has too few checkpoints, or one of them is damaged; or there is something at `out`.
        ValueError: `last` is below 2.

    Reference:
        Vaswani et al. 2017, "Attention Is All You Need", section 6.1.
    """
    if last is not None and last < _FEWEST:
        raise ValueError(f"last is {last}; expected {_FEWEST} or more.")
    check_new_folder(out)
    run = RunFolder.open(run_dir)
    whole = RunFolder.open(run.trained_in)
    number = 0 if whole.path == run.path else 1 + whole.config.parts.index(run.name)
    paths = _last_checkpoints(whole, last)
    model = run.load_model()
    weights = {
        name: variable
        for name, variable in variables_of_translator(model, number).items()
        if keras.backend.is_float_dtype(variable.dtype)  # not the random states of dropout
    }
    sums = {name: np.zeros(tuple(weight.shape)) for name, weight in weights.items()}
    for path in paths:
        for name, values in read_variables(path, weights).items():
            sums[name] += values
    for name, weight in weights.items():
        weight.assign(sums[name] / len(paths))
    with atomic_folder(out) as partial:
        folder = RunFolder.create(partial, run.config, run.vocabulary)
        copy_environment(run, folder)
        save_model(model, folder.model_path)
    return [path.name for path in paths]


def _last_checkpoints(run: RunFolder, last: int | None) -> list[Path]:
    """The checkpoints to average, oldest first."""
    paths, keep = checkpoints(run.checkpoints), run.config.training.keep_checkpoints
    wanted = max(last or 0, _FEWEST)
    if len(paths) < wanted:
        number = f"{len(paths)} checkpoint{'' if len(paths) == 1 else 's'}"
        fewer = f" Or average fewer: --last {len(paths)}." if len(paths) >= _FEWEST else ""
        raise InputError(
            f"{run.path} has {number}; expected at least {wanted} to average. A run keeps its newest {keep} "
            f"(training.keep_checkpoints). To get more, train with --set training.keep_checkpoints={max(wanted, keep)} "
            f"and --set training.checkpoint_every_steps=N, the steps between two of them.{fewer}"
        )
    return paths[-last:] if last else paths
