"""Start of a training from the models of finished runs."""

from collections.abc import Sequence

import keras

from bytenet.config import Config
from bytenet.datasets import Vocabulary
from bytenet.errors import InputError
from bytenet.run_folder import RunFolder

# These settings change neither the weights of a model nor what it computes with them. The variant and the settings
# choose values of other settings, which are compared.
_MAY_DIFFER = ("name", "dtype", "dropout", "character_dropout", "variant", "settings")


def load_starts(translators: Sequence[keras.Model], config: Config, vocabulary: Vocabulary) -> None:
    """Give translators the weights of the finished runs that they start from.

    Args:
        translators: forward and backward.
        config: reads the runs from `semi_supervised.start_forward` and `start_backward`.
        vocabulary: of the run.

    Raises:
        MissingFileError: there is no such run, or it has no model yet.
        InputError: the run has another model, another vocabulary or another direction.
    """
    languages = config.data.languages
    for translator, (direction, start) in zip(translators, config.semi_supervised.starts.items(), strict=True):
        if start is not None:
            folder = RunFolder.open(start)
            _check_direction(folder, direction, languages if direction == "forward" else languages[::-1])
            _load_start(translator, folder, vocabulary)


def _check_direction(folder: RunFolder, direction: str, languages: tuple[str, str]) -> None:
    """Raise an InputError if a run translates between other languages. The models of both directions have one shape."""
    languages_of_run = folder.config.data.languages
    if languages_of_run != languages:
        raise InputError(
            f"The run in {folder.path} translates {' to '.join(languages_of_run)}, but the {direction} translator must "
            f"translate {' to '.join(languages)}. Train a run of the other direction with --set data.reversed=true. "
            "If only the names of the languages are wrong, correct them in the config.yaml of that run."
        )


def _load_start(model: keras.Model, folder: RunFolder, vocabulary: Vocabulary) -> None:
    if folder.vocabulary != vocabulary:
        raise InputError(
            f"The run in {folder.path} has another vocabulary than this one, so its model is no start for it. "
            "Train it on the same pairs, with the same data.unknown and data.min_character_count."
        )
    start = folder.load_model()
    settings, settings_of_start = model.get_config(), start.get_config()
    differences = [
        f"{key} {settings_of_start.get(key)!r} there, {settings[key]!r} here"
        for key in settings
        if key not in _MAY_DIFFER and settings[key] != settings_of_start.get(key)
    ]
    if differences:
        raise InputError(
            f"The model of the run in {folder.path} differs from the model of this run: {'; '.join(differences)}. "
            "Start from a run with the same model, or change the model of this run."
        )
    weights = {weight.path.partition("/")[2]: weight for weight in start.weights}
    for weight in model.weights:
        weight.assign(weights[weight.path.partition("/")[2]])
