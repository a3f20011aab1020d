"""The classes of optimisers in Keras, and their settings."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import keras

from bytenet.config import TrainingConfig
from bytenet.config.settings_without_effect import changed_settings
from bytenet.errors import ConfigError, nearest
from bytenet.training.optimizers.nag import Nag

# Arguments that have their own setting in `training`.
_SETTINGS = {
    "learning_rate": "learning_rate",
    "clipnorm": "clip_norm",
    "clipvalue": "clip_norm",
    "global_clipnorm": "clip_norm",
    "use_ema": "ema_momentum",
    "ema_momentum": "ema_momentum",
    "ema_overwrite_frequency": "ema_momentum",
    "beta_1": "beta_1",
    "beta_2": "beta_2",
    "epsilon": "epsilon",
}
# Those that only some classes have.
_NOT_OF_ALL = ("beta_1", "beta_2", "epsilon")
# Arguments that may not be set, because they change the meaning of a step or a name.
_NOT_OFFERED = ("name", "loss_scale_factor", "gradient_accumulation_steps")
# Classes that are not offered, by their names in lower case, with the reason.
_UNSOUND = {
    "schedulefreeadamw": "Its average of the weights is wrong in Keras 3.15 with TensorFlow: an update reads the new "
    "momentum in place of the old one.",
}


def arguments_from_config(kind: type[keras.optimizers.Optimizer], training: TrainingConfig) -> dict[str, Any]:
    """The arguments of a class that a configuration gives, without learning rate, clipping and averaging."""
    known = optimizer_arguments(kind)
    return {name: getattr(training, name) for name in _NOT_OF_ALL if name in known} | training.optimizer_arguments


def changes_without_effect(training: TrainingConfig) -> list[str]:
    """The changed settings, each with its value, that the class of the optimiser does not have."""
    if training.optimizer == "adam":
        return []
    known = optimizer_arguments(optimizer_classes()[training.optimizer])
    return changed_settings("training", training, [name for name in _NOT_OF_ALL if name not in known])


@contextmanager
def explaining_refusals(training: TrainingConfig) -> Iterator[None]:
    """Turn the errors of a class that refuses its arguments into a ConfigError."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"training.optimizer_arguments is {training.optimizer_arguments}, but {training.optimizer} refuses that: "
            f"{error}"
        ) from error


def check_optimizer(training: TrainingConfig) -> None:
    """Raise a ConfigError if there is no such optimiser, or if it has no arguments of these names."""
    names = optimizer_names()
    if training.optimizer in _UNSOUND:
        raise ConfigError(
            f"training.optimizer is {training.optimizer}, which is not offered. {_UNSOUND[training.optimizer]} Use "
            "adamw, or adam with training.ema_momentum."
        )
    if training.optimizer not in names:
        raise ConfigError(
            f"training.optimizer is {training.optimizer!r}, but should be one of {', '.join(names)}."
            f"{nearest(training.optimizer, names)}"
        )
    known = [] if training.optimizer == "adam" else optimizer_arguments(optimizer_classes()[training.optimizer])
    offered = [name for name in known if name not in _SETTINGS]
    for name in training.optimizer_arguments:
        if name in offered:
            continue
        if name in _SETTINGS:
            raise ConfigError(f"training.optimizer_arguments has {name!r}. Set training.{_SETTINGS[name]} instead.")
        raise ConfigError(
            f"training.optimizer_arguments has {name!r}, but {training.optimizer} takes "
            f"{', '.join(offered) or 'no arguments'}.{nearest(name, offered)}"
        )


def optimizer_names() -> list[str]:
    """The names that `training.optimizer` may have, in alphabetical order."""
    return sorted(["adam", *optimizer_classes()])


@cache
def optimizer_classes() -> dict[str, type[keras.optimizers.Optimizer]]:
    """The classes by name: `Nag`, and the sound optimisers of Keras that take a learning rate, not an optimiser."""
    kinds = {
        name.lower(): kind
        for name, kind in vars(keras.optimizers).items()
        if isinstance(kind, type)
        and issubclass(kind, keras.optimizers.Optimizer)
        and kind is not keras.optimizers.Optimizer
        and "learning_rate" in inspect.signature(kind).parameters
        and name.lower() not in _UNSOUND
    }
    kinds["keras_adam"] = kinds.pop("adam")
    kinds["nag"] = Nag
    return kinds


def optimizer_arguments(kind: type[keras.optimizers.Optimizer]) -> list[str]:
    """Names of the arguments of an optimiser that can be set."""
    return [name for name in inspect.signature(kind).parameters if name not in (*_NOT_OFFERED, "kwargs")]
