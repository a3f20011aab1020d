"""Start of a training from the models of finished runs, and from model files. Nothing here imports TensorFlow."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, NamedTuple

from bytenet.config import Config, DataConfig
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.datasets import Vocabulary
from bytenet.errors import ConfigError, InputError
from bytenet.lite.languages import check_direction
from bytenet.model_file import ModelFile
from bytenet.run_folder import RunFolder
from bytenet.trained_model import open_model

if TYPE_CHECKING:
    import keras

# These settings choose values of other settings, which are compared.
_MAY_DIFFER = ("variant", "settings")
_DEFAULTS = {"model.family": ByteNetConfig.family, "data.unknown": DataConfig.unknown}


class Start(NamedTuple):
    """A model that a translator of a run starts from.

    Attributes:
        setting: that names it.
        direction: "forward" or "backward".
        model: its run folder, file or name.
        languages: that it must translate from and to.
    """

    setting: str
    direction: str
    model: str
    languages: tuple[str, str]


def starts_of(config: Config) -> list[Start]:
    """The models that the translators of a run start from; none for random weights."""
    languages = config.data.languages
    if config.semi_supervised.enabled:
        return [
            Start(
                f"semi_supervised.start_{direction}", direction, model,
                languages if direction == "forward" else languages[::-1],
            )
            for direction, model in config.semi_supervised.starts.items()
            if model is not None
        ]  # fmt: skip
    start = config.training.start
    return [] if start is None else [Start("training.start", "forward", start, languages)]


def check_start(config: Config, run: RunFolder, resume: bool) -> tuple[Config, Vocabulary | None]:
    """Check the folder and the settings of a run before its corpus is read.

    Args:
        config: of the run.
        run: its folder.
        resume: whether the run goes on, if it has begun.

    Returns:
        The configuration and the vocabulary, see `take_over_start`.

    Raises:
        ConfigError, InputError, MissingFileError: as `RunFolder.check_free`, `RunFolder.check_settings` and
            `take_over_start`.
    """
    if not resume:
        run.check_free()
    begun = run if resume and not run.missing else None
    config, vocabulary = take_over_start(config, begun)
    if begun is not None:
        begun.check_settings(config)
    return config, vocabulary


def take_over_start(config: Config, begun: RunFolder | None = None) -> tuple[Config, Vocabulary | None]:
    """The configuration and the vocabulary of a run that starts from other models.

    Args:
        config: of the run.
        begun: the folder of a run that is resumed. It keeps its own model and vocabulary.

    Returns:
        The configuration and the vocabulary. Model, vocabulary and the rule for unknown characters come from the first
        start; added sets and dropout rates are the run's own. Without a start, the configuration as it is and None.

    Raises:
        ConfigError: `training.start` is set for a semi-supervised run, or sets cannot be added; or another family, or
            another rule for unknown characters than the default, is set.
        MissingFileError: there is no such run or model.
        InputError: it translates between other languages.
    """
    if config.semi_supervised.enabled and config.training.start is not None:
        raise ConfigError(
            "training.start is for training on pairs alone. With semi_supervised.enabled, set "
            "semi_supervised.start_forward and start_backward."
        )
    if config.training.added_sets and config.training.start is None:
        raise ConfigError(
            "training.added_sets adds to the model of training.start, which is not set. Set training.start; a "
            "training that begins with random weights, or on monolingual text, has model.num_sets."
        )
    starts = starts_of(config)
    if not starts:
        return config, None
    start = starts[0]
    if begun is None:
        source, *_ = [_open(each, config.data) for each in starts]  # all, so that errors come before the corpus is read
        model = source.config.model.with_added_sets(config.training.added_sets)
    else:
        source = begun
        _check_direction(source, start._replace(languages=config.data.languages), config.data)
        model = source.config.model
    unknown = source.vocabulary.unknown
    for name, value, of_start in (
        ("model.family", config.model.family, model.family),
        ("data.unknown", config.data.unknown, unknown),
    ):
        if value not in (of_start, _DEFAULTS[name]):
            raise ConfigError(
                f"{name} is {value}, but the model of {start.setting} has {of_start}. Leave out {name}, or the preset "
                f"that sets it, or {start.setting}."
            )
    if config.data.corpus == "shards" and unknown == "drop":
        raise ConfigError(
            f"The model of {start.setting} drops unknown characters (data.unknown: drop), which shards cannot do. "
            "Start from a model with another data.unknown, or from none; or set data.corpus to files and give text "
            "files."
        )
    # If no family is set, the configuration is one of ByteNet and lacks the other rates. These stay as in the start.
    model = model.with_dropout_of(config.model)
    data = replace(config.data, unknown=unknown)
    return replace(config, model=model, data=data), source.vocabulary


def load_starts(translators: "Mapping[str, keras.Model]", config: Config, vocabulary: Vocabulary) -> None:
    """Give translators the weights of the models that they start from, if there are any.

    Args:
        translators: by direction; built, with the configuration of `take_over_start`.
        config: of the run.
        vocabulary: of the run.

    Raises:
        MissingFileError: there is no such run, or it has no model yet.
        InputError: a start has another model, another vocabulary or another direction.
    """
    starts = starts_of(config)
    for start in starts:
        source = _open(start, config.data)
        if source.vocabulary != vocabulary:
            if start is starts[0]:  # the vocabulary of the run was its own
                raise InputError(
                    f"The model {source.path} has another vocabulary than when this run began. Bring back the earlier "
                    "model, or begin a new run."
                )
            raise InputError(
                f"The model {source.path} has another vocabulary than the model {starts[0].model} of "
                f"{starts[0].setting}, so the run cannot start from it. Train both models on the same pairs, with the "
                "same data.unknown and data.min_character_count."
            )
        _load_start(translators[start.direction], source, config.training.added_sets)


def describe_starts(config: Config, vocabulary: Vocabulary, counts: Mapping[str, int]) -> str:
    """What a run takes over from its starts, for people.

    Args:
        config: of a run that has starts.
        vocabulary: that it took over.
        counts: how often each character occurs in the training pairs.
    """
    starts, added = starts_of(config), config.training.added_sets
    models, their = ("model", "its") if len(starts) == 1 else ("models", "their")
    settings = "settings (model.*, except dropout)"
    if added:
        settings += f", {added} more set{'s'[: added > 1]} in each half"
    known = set(vocabulary.characters)
    unknown = {character: count for character, count in counts.items() if character not in known}
    share = sum(unknown.values()) / max(1, sum(counts.values()))
    return (
        f"starts from the {models} of {' and '.join(start.model for start in starts)}, with {their} {settings} and "
        f"{their} vocabulary, in which {len(unknown):,} of the {len(counts):,} characters of the pairs are unknown "
        f"({share:.2%} of the text)"
    )


def _open(start: Start, data: DataConfig) -> RunFolder | ModelFile:
    """Open the model of a start, which must translate between the right languages."""
    source = open_model(start.model)
    _check_direction(source, start, data)
    return source


def _check_direction(source: RunFolder | ModelFile, start: Start, data: DataConfig) -> None:
    """Raise an InputError if a start translates between other languages. Models of both directions have one shape."""
    languages = source.config.data.languages
    advice = f" Leave out {start.setting} to train from random weights, or name a model of the same two languages."
    if isinstance(source, RunFolder):
        advice += " If only the names of its languages are wrong, correct them in the config.yaml of that run."
    elif languages != start.languages[::-1]:
        reads_source = start.languages == (data.source_language, data.target_language)
        source_language, target_language = languages if reads_source else languages[::-1]
        advice += (
            f" Only if your text is in {source_language} and {target_language}, set data.source_language to "
            f"{source_language} and data.target_language to {target_language}."
        )
    if languages == start.languages[::-1]:
        advice = f" Train a run of the other direction with --set data.reversed=true.{advice}"
    check_direction(source.path, languages, start.languages, start.setting, advice)


def _load_start(model: "keras.Model", source: RunFolder | ModelFile, added_sets: int) -> None:
    start = source.load_model()
    expected = source.config.model.with_added_sets(added_sets)
    differences = [
        f"{key} {value!r} there, {getattr(model.config, key, None)!r} here"
        for key, value in asdict(expected).items()
        if key not in (*_MAY_DIFFER, *expected.dropout_rates) and value != getattr(model.config, key, None)
    ]
    if differences:
        raise InputError(
            f"The model of the start {source.path} differs from the model of this run: {'; '.join(differences)}. "
            "Choose a start with the same model."
        )
    weights = {weight.path.partition("/")[2]: weight for weight in model.weights}
    for weight in start.weights:
        weights[weight.path.partition("/")[2]].assign(weight)
    if added_sets:
        model.make_last_sets_identity(added_sets)
