"""Changes of settings that a resumed run must not have."""

from collections.abc import Callable
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


def forbidden_changes(saved: Config, requested: Config) -> list[tuple[str, Any, Any]]:
    """The changes of settings with which a run cannot be resumed.

    Args:
        saved: configuration of the run.
        requested: configuration to resume it with.

    Returns:
        The dotted key of each setting, its saved value, and the value that was asked for.
    """
    aspects = _fixed_aspects(saved) | dict.fromkeys(_settings_of_scores(saved), lambda value: value)
    return [
        (key, before, after)
        for key, before, after in saved.differences(requested)
        if (key.partition(".")[0] in _FIXED_SECTIONS and key not in PATH_KEYS)
        or (key in aspects and aspects[key](before) != aspects[key](after))
    ]


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
