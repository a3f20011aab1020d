"""The preset for a corpus that no preset was made for, chosen by its number of pairs."""

import logging
import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bytenet.config import Config, ConfigSources, DataConfig
from bytenet.errors import ConfigError
from bytenet.presets.advice import (
    ADVICE_FOR_STARTS,
    advice_for_few_pairs,
    advice_to_start,
    pretrained_start,
    why_no_preset,
)
from bytenet.presets.corpus_size import number_of_pairs
from bytenet.presets.expectations import measurement
from bytenet.presets.sizes import (
    FAMILIES_OF_STARTS,
    PRESETS_FOR_STARTS,
    PRESETS_OF_FAMILIES,
    USUAL_FAMILY,
    nearest_preset,
)
from bytenet.trained_model import open_model

logger = logging.getLogger("bytenet.presets")

_USUAL_PRESETS = PRESETS_OF_FAMILIES[USUAL_FAMILY]


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

    The preset has Bahdanau's recurrent model. If a setting does not fit it, the preset has a ConvS2S or a ByteNet.
    If the training starts from a ByteNet or a Transformer, the preset is one for such trainings.

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
    if sources.preset in PRESETS_FOR_STARTS and sized.config.training.start is None:
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
    return SizedConfig(config, why_no_preset(sources) if says_why else None)


def _with_preset(sources: ConfigSources) -> SizedConfig:
    """The configuration on the preset for the number of pairs."""
    presets, reason = _candidate_presets(sources)
    start = sources.value("training.start")
    _check_some_preset_allows(sources, presets)  # before the pairs are counted, which may take long
    number = number_of_pairs(sources.data_config())
    preset = nearest_preset(number, presets)
    why = f" (not {nearest_preset(number, _USUAL_PRESETS)}, because {reason})" if reason else ""
    lines = [f"{number:,} pairs: preset {preset}{why}"]
    measurements = [measurement(preset, start)]
    sized = sources.config(preset)
    if start is None:
        if not sources.names_length:
            lines += advice_for_few_pairs(number, presets[preset], sized.training.epochs)
        if model := pretrained_start(sources):
            preset_for_start = nearest_preset(number, PRESETS_FOR_STARTS)
            lines.append(advice_to_start(model, preset_for_start))
            measurements.append(measurement(preset_for_start, model))
    elif presets is not PRESETS_FOR_STARTS and sources.value("training.learning_rate") is None:
        lines.append(ADVICE_FOR_STARTS)
    reached = [line for line in measurements if line]
    if reached:
        reached.append("Other text has other scores.")
    return SizedConfig(sized, "\n".join(lines), "\n".join(reached) or None)


def _candidate_presets(sources: ConfigSources) -> tuple[Mapping[str, int], str | None]:
    """The presets to choose from, and why they are not the usual ones; None if they are."""
    if isinstance(start := sources.value("training.start"), str):
        family = open_model(start).config.model.family
        if family == USUAL_FAMILY:
            return _USUAL_PRESETS, None
        reason = f"the model of training.start is of the family {family}"
        return PRESETS_FOR_STARTS if family in FAMILIES_OF_STARTS else PRESETS_OF_FAMILIES[family], reason
    setting = sources.misfit(USUAL_FAMILY)
    if setting is None:
        return _USUAL_PRESETS, None
    family = next((family for family in PRESETS_OF_FAMILIES if sources.misfit(family) is None), "bytenet")
    return PRESETS_OF_FAMILIES[family], f"{setting} is set"


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
