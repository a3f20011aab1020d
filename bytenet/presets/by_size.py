"""The preset for a corpus that no preset was made for, chosen by its number of pairs."""

import logging
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from bytenet.config import Config, ConfigSources, DataConfig
from bytenet.config.families.convs2s import ConvS2SConfig
from bytenet.errors import ConfigError
from bytenet.lite.pretrained import is_pretrained, pretrained_names
from bytenet.presets.expectations import measurement
from bytenet.trained_model import open_model

logger = logging.getLogger("bytenet.presets")

_FEW = 2  # a corpus is small for a preset if it has this many times fewer pairs
_PAIRS = {"pairs-2k": 2_000, "pairs-10k": 10_000, "pairs-30k": 30_000, "pairs-150k": 150_000}  # ByteNet
_CONVS2S = "convs2s"
# With 3,000 captions, ConvS2S translates better than ByteNet. With more pairs, its scores are higher, too, but the
# intervals overlap (docs/results.md).
_CONVS2S_PAIRS = {f"{preset}-{_CONVS2S}": number for preset, number in _PAIRS.items()}
_START_PAIRS = {f"{preset}-start": number for preset, number in _PAIRS.items()}  # for a start of another family
_ADVICE_FOR_STARTS = (
    "Its learning rate and its epochs are for random weights. A trained model usually needs less: try "
    "training.learning_rate=5e-4"
)
_ADVICE_TO_START = (
    "A pretrained model has these languages: to start from it, set training.start={model} (preset {preset})"
)


class SizedConfig(NamedTuple):
    """A configuration, and what was chosen because it was not named.

    Attributes:
        config: the configuration.
        choice: the chosen preset and advice, why none was chosen, or the chosen corpus, for people, in short lines;
            None if all was named.
        expectation: what the chosen preset reached in a training, for people, in lines; None if no preset was chosen,
            or if it was not measured.
    """

    config: Config
    choice: str | None
    expectation: str | None = None

    @property
    def message(self) -> str | None:
        """The choice and the expectation, or None if there is neither."""
        return "\n".join(filter(None, [self.choice, self.expectation])) or None


def load_sized_config(
    preset_or_file: str | os.PathLike[str] | None,
    overrides: Iterable[str] = (),
    run_config: str | os.PathLike[str] | None = None,
) -> SizedConfig:
    """Read a configuration as `load_config`. If it names a corpus, but neither preset nor model, choose a preset.

    The preset has a ConvS2S. It has a ByteNet if a setting needs one. If the training starts from a model of another
    family than ConvS2S, the preset is one for such trainings.

    Warns of text files whose languages are not named, and of a preset for trained models without a model to start from.

    Args:
        preset_or_file, overrides: as for `load_config`.
        run_config: the configuration of a run that goes on. It then takes the place of the chosen preset, which may
            have changed since the run began.

    Raises:
        ConfigError: as for `load_config`.
        InputError: the corpus cannot be read, or the model to start from.
        MissingFileError: there is no such model.
    """
    sources = ConfigSources.read(preset_or_file, overrides)
    sized = _sized_config(sources, run_config)
    if run_config is None and sources.lacks_languages:
        _warn_of_languages(sized.config.data)
    if sources.preset in _START_PAIRS and sized.config.training.start is None:
        _warn_of_random_weights(sources.preset)
    return sized


def _warn_of_random_weights(preset: str) -> None:
    logger.warning(
        "The preset %s is for a model that is trained already, but training.start is not set. Random weights need a "
        "higher learning rate and more epochs. Set training.start, or take another preset.",
        preset,
    )


def _warn_of_languages(data: DataConfig) -> None:
    logger.warning(
        "data.source_language and data.target_language are not both set, so the texts count as %s and %s. Sentence "
        "splitting and BLEU depend on them.",
        data.source_language, data.target_language,
    )  # fmt: skip


def _sized_config(sources: ConfigSources, run_config: str | os.PathLike[str] | None) -> SizedConfig:
    """The configuration of sources, see `load_sized_config`."""
    if sources.leaves_model_open:
        return _with_preset(sources) if run_config is None else SizedConfig(sources.config(run_config), None)
    config = sources.config()
    if run_config is None and sources.names_no_corpus:
        return SizedConfig(
            config, f"No corpus is named (data.corpus), so the demo corpus {config.data.corpus} is used."
        )
    is_complete = sources.is_semi_supervised and sources.names_length  # such as the settings of a run
    says_why = sources.lacks_preset and run_config is None and not is_complete
    return SizedConfig(config, _why_no_preset(sources) if says_why else None)


def _with_preset(sources: ConfigSources) -> SizedConfig:
    """The configuration on the preset for the number of pairs."""
    reason = _reason_for_bytenet(sources)
    start = sources.value("training.start")
    presets = _CONVS2S_PAIRS
    if reason:
        presets = _PAIRS if start is None else _START_PAIRS
    _check_some_preset_allows(sources, presets)  # before the pairs are counted, which may take long
    number = number_of_pairs(sources.data_config())
    preset = _nearest_preset(number, presets)
    why = f" (not {_nearest_preset(number, _CONVS2S_PAIRS)}, because {reason})" if reason else ""
    lines = [f"{number:,} pairs: preset {preset}{why}"]
    measurements = [measurement(preset, start)]
    sized = sources.config(preset)
    if start is None:
        if not sources.names_length:
            lines += _advice_for_few_pairs(number, presets[preset], sized.training.epochs)
        if model := _pretrained_start(sources):
            preset_for_start = _nearest_preset(number, _START_PAIRS)
            lines.append(_ADVICE_TO_START.format(model=model, preset=preset_for_start))
            measurements.append(measurement(preset_for_start, model))
    elif not reason and sources.value("training.learning_rate") is None:
        lines.append(_ADVICE_FOR_STARTS)
    reached = [line for line in measurements if line]
    if reached:
        reached.append("Other text has other scores.")
    return SizedConfig(sized, "\n".join(lines), "\n".join(reached) or None)


def _reason_for_bytenet(sources: ConfigSources) -> str | None:
    """Why a preset with a ByteNet is needed, or None."""
    if isinstance(start := sources.value("training.start"), str):
        family = open_model(start).config.model.family
        return None if family == _CONVS2S else f"the model of training.start is of the family {family}"
    if setting := sources.misfit(_CONVS2S):
        return f"{setting} is set"
    longest, max_length = ConvS2SConfig(variant="small").max_positions - 1, sources.value("data.max_length")
    is_too_long = isinstance(max_length, int) and max_length > longest
    if is_too_long and sources.value("model.family") is None and sources.value("model.max_positions") is None:
        return f"ConvS2S reads at most {longest:,} characters, and data.max_length is {max_length:,}"
    return None


def _check_some_preset_allows(sources: ConfigSources, presets: Iterable[str]) -> None:
    """Raise a ConfigError if the settings are wrong on each of the presets."""
    error = None
    for preset in presets:
        try:
            sources.config(preset)
        except ConfigError as wrong:
            error = wrong
        else:
            return
    if error is not None:
        raise error


def _advice_for_few_pairs(number: int, usual: int, epochs: int) -> list[str]:
    """A line of advice for a corpus that is much smaller than the preset is made for. None for others.

    Args:
        number: of pairs in the corpus.
        usual: the number that the preset is made for.
        epochs: of the preset.
    """
    if number * _FEW > usual:
        return []
    as_many = round(epochs * usual / max(number, 1))
    return [f"Few pairs: set training.epochs={as_many} for as many steps as with {usual:,} pairs"]


def _pretrained_start(sources: ConfigSources) -> str | None:
    """A pretrained model of the same languages, from which a training can start; None if there is none.

    Own text must name its languages.

    Args:
        sources: without a start.
    """
    from bytenet.datasets.corpora.entry import USERS_CORPORA

    data = sources.data_config()
    names_languages = sources.value("data.source_language") and sources.value("data.target_language")
    if data.corpus in USERS_CORPORA and not names_languages:
        return None
    for name in filter(is_pretrained, pretrained_names()):
        config = open_model(name).config
        if config.data.languages == data.languages and sources.misfit(config.model.family) is None:
            return name
    return None


def _why_no_preset(sources: ConfigSources) -> str:
    """Why no preset is chosen for a file that says how large the model is, or for semi-supervised settings."""
    if sources.is_semi_supervised:
        return (
            "No preset is chosen, because settings of semi_supervised are named; other settings have their defaults. "
            "Set the number of epochs, the batches and the learning rate, too, or begin the file with a preset."
        )
    sizes = sources.named_sizes
    return (
        f"No preset is chosen, because {sources.preset_or_file} sets {' and '.join(sizes)}; other settings have their "
        f"defaults. To have one chosen, give {'it' if len(sizes) == 1 else 'them'} as --set instead."
    )


def _nearest_preset(num_pairs: int, presets: Mapping[str, int]) -> str:
    """The preset for the nearest number of pairs, by ratio.

    Args:
        num_pairs: in the corpus.
        presets: number of pairs that each is made for.
    """
    return min(presets, key=lambda name: abs(math.log(presets[name] / max(num_pairs, 1))))


def number_of_pairs(data: DataConfig) -> int:
    """The number of training pairs in a corpus, at most `max_train_pairs`, before the limits on length, and the number
    of synthetic pairs. For shards, it is the number of pairs in the folder.

    Raises:
        InputError: it cannot be read.
    """
    from bytenet.datasets import read_corpus
    from bytenet.datasets.shards.folder import ShardFolder

    if data.train_shards is not None:
        return len(ShardFolder.open(data.train_shards))
    with _only_errors():  # the command reads the corpus again, with all its warnings
        corpus = read_corpus(data)
    number = len(corpus.train)
    return min(number, data.max_train_pairs or number) + len(corpus.synthetic or ())


@contextmanager
def _only_errors() -> Iterator[None]:
    """No warnings about a corpus inside."""
    logger = logging.getLogger("bytenet.datasets")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
