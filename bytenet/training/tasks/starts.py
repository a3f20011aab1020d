"""Start of a training from the models of finished runs, and from model files."""

import os
from collections.abc import Sequence
from dataclasses import asdict, replace

import keras

from bytenet.config import Config, DataConfig
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.datasets import Vocabulary
from bytenet.errors import ConfigError, InputError
from bytenet.lite.languages import check_direction
from bytenet.model_file import ModelFile
from bytenet.run_folder import RunFolder
from bytenet.trained_model import open_model

# These settings change neither the weights of a model nor what it computes with them. The variant and the settings
# choose values of other settings, which are compared.
_MAY_DIFFER = ("dropout", "character_dropout", "variant", "settings")
_DEFAULTS = {"model.family": ByteNetConfig.family, "data.unknown": DataConfig.unknown}


def take_over_start(config: Config, run_dir: str | os.PathLike[str], resume: bool) -> tuple[Config, Vocabulary | None]:
    """The configuration and the vocabulary of a run that starts from the model of `training.start`.

    Args:
        config: of the run.
        run_dir, resume: as for `bytenet.training.train`. A resumed run keeps its own model and vocabulary.

    Returns:
        The configuration with the start's model, its rule for unknown characters and the added sets, but with its own
        rates of dropout; and the start's vocabulary. Without a start, the configuration as it is and None.

    Raises:
        ConfigError: the run is semi-supervised, or sets cannot be added; or another family, or another rule for unknown
            characters than the default, is set.
        MissingFileError: there is no such run or model.
        InputError: it translates between other languages.
    """
    start = config.training.start
    if start is None:
        if config.training.added_sets:
            raise ConfigError(
                "training.added_sets adds to the model of training.start, which is not set. Set training.start; a "
                "training that begins with random weights, or on text without translations, has model.num_sets."
            )
        return config, None
    if config.semi_supervised.enabled:
        raise ConfigError(
            "training.start is for training on pairs alone. With semi_supervised.enabled, set "
            "semi_supervised.start_forward and start_backward."
        )
    own = RunFolder(run_dir)
    resumes = resume and not own.missing
    source = own if resumes else open_model(start)
    _check_direction(source, "training.start", config.data.languages)
    model = source.config.model if resumes else source.config.model.with_added_sets(config.training.added_sets)
    unknown = source.vocabulary.unknown
    for name, value, of_start in (
        ("model.family", config.model.family, model.family),
        ("data.unknown", config.data.unknown, unknown),
    ):
        if value not in (of_start, _DEFAULTS[name]):
            raise ConfigError(
                f"{name} is {value}, but the model of training.start has {of_start}. Leave out {name}, or leave out "
                "training.start."
            )
    rates = {name: getattr(config.model, name) for name in ("dropout", "character_dropout")}
    data = replace(config.data, unknown=unknown)
    return replace(config, model=replace(model, **rates), data=data), source.vocabulary


def load_start(model: keras.Model, config: Config, vocabulary: Vocabulary) -> None:
    """Give a model the weights of `training.start`, if there is one.

    Args:
        model: built, with the configuration of `take_over_start`.
        config: of the run.
        vocabulary: of the run.

    Raises:
        MissingFileError: there is no such run, or it has no model yet.
        InputError: its model does not fit.
    """
    if config.training.start is not None:
        _load_start(model, open_model(config.training.start), vocabulary, config.training.added_sets)


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
            source = open_model(start)
            expected = languages if direction == "forward" else languages[::-1]
            _check_direction(source, f"semi_supervised.start_{direction}", expected)
            _load_start(translator, source, vocabulary)


def _check_direction(source: RunFolder | ModelFile, setting: str, expected: tuple[str, str]) -> None:
    """Raise an InputError if a start translates between other languages. Models of both directions have one shape."""
    languages = source.config.data.languages
    advice = " If only the names of the languages are wrong, correct them in the config.yaml of that run."
    if languages == expected[::-1]:
        advice = f" Train a run of the other direction with --set data.reversed=true.{advice}"
    check_direction(source.path, languages, expected, setting, advice)


def _load_start(model: keras.Model, source: RunFolder | ModelFile, vocabulary: Vocabulary, added_sets: int = 0) -> None:
    if source.vocabulary != vocabulary:
        raise InputError(
            f"The start {source.path} has another vocabulary than this one, so its model is no start for it. "
            "Train it on the same pairs, with the same data.unknown and data.min_character_count."
        )
    start = source.load_model()
    expected = source.config.model.with_added_sets(added_sets)
    differences = [
        f"{key} {value!r} there, {getattr(model.config, key, None)!r} here"
        for key, value in asdict(expected).items()
        if key not in _MAY_DIFFER and value != getattr(model.config, key, None)
    ]
    if differences:
        raise InputError(
            f"The model of the start {source.path} differs from the model of this run: {'; '.join(differences)}. "
            "Start from a run with the same model, or change the model of this run."
        )
    weights = {weight.path.partition("/")[2]: weight for weight in model.weights}
    for weight in start.weights:
        weights[weight.path.partition("/")[2]].assign(weight)
    if added_sets:
        model.make_last_sets_identity(added_sets)
