"""Finished runs whose models a training starts with."""

from collections.abc import Sequence

import keras

from bytenet.config import Config
from bytenet.datasets import Vocabulary
from bytenet.errors import InputError
from bytenet.run_folder import RunFolder

# Settings of a model that change neither its weights nor what it computes with them. (Variant and settings choose the
# values of other settings, and those are compared.)
_MAY_DIFFER = ("name", "dtype", "dropout", "variant", "settings")


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
