"""Changes of settings that a resumed run must not have."""

from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from bytenet.config.building import PATH_KEYS
from bytenet.config.checks import Fixed
from bytenet.config.config import Config

# The variables of the model and the order of the batches depend on these sections. Files may be moved.
_FIXED_SECTIONS = ("model", "data")
# The checkpoints have the best score so far. Later scores are compared with it, so all must be measured alike.
_OF_SCORES = ("evaluation.max_sentences", "evaluation.batch_norm_statistics")
_OF_BATCH_STATISTICS = ("evaluation.continuous_batch_size",)
_OF_TRANSLATIONS = ("evaluation.beam_size", "decoding.min_length", "decoding.max_length")
_OF_BEAMS = ("decoding.length_penalty", "decoding.length_penalty_rule")


def fixed_settings(config: Config) -> dict[str, Any]:
    """The settings that must stay the same when a run is resumed, by their dotted keys, with values for JSON."""
    fixed = {*_fixed_aspects(config), *_settings_of_scores(config)}
    return {
        key: value
        for key, value in _values_for_json(config).items()
        if key in fixed or (key.partition(".")[0] in _FIXED_SECTIONS and key not in PATH_KEYS)
    }


def forbidden_changes(fixed: Mapping[str, Any], requested: Config) -> list[tuple[str, Any, Any]]:
    """The changes of settings with which a run cannot be resumed.

    Args:
        fixed: `fixed_settings` of the run. Settings that another version or another family of models has are ignored.
        requested: configuration to resume it with.

    Returns:
        The dotted key of each setting, its value in the run, and the value that was asked for.
    """
    values, aspects = _values_for_json(requested), dict.fromkeys(fixed, Fixed().aspect) | _fixed_aspects(requested)
    return [
        (key, before, values[key])
        for key, before in fixed.items()
        if key in values and aspects[key](before) != aspects[key](values[key])
    ]


def _values_for_json(config: Config) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in config.settings().items()}


def _fixed_aspects(config: Config) -> dict[str, Callable[[Any], Any]]:
    """For each marked setting, what of its value is fixed."""
    return {
        f"{section}.{name}": mark.aspect
        for section, settings in vars(config).items()
        for name, hint in get_type_hints(type(settings), include_extras=True).items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Fixed)
    }


def _settings_of_scores(config: Config) -> tuple[str, ...]:
    """The settings that decide the value of `training.early_stopping_metric` for the same model."""
    keys: tuple[str, ...] = _OF_SCORES
    if config.evaluation.batch_norm_statistics == "batch":
        keys += _OF_BATCH_STATISTICS
    if config.training.early_stopping_metric != "val_loss":
        keys += _OF_TRANSLATIONS
        if config.evaluation.beam_size > 1:
            keys += _OF_BEAMS
    return keys
