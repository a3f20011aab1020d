"""The optimiser that a configuration names.

"adam" is `FlatAdam` for every model, because it was faster, or no slower, in each case measured. "keras_adam" computes
the same numbers up to rounding. The table shows how much longer Keras's Adam takes: medians of the ratio of CPU
seconds, and their range; both took turns in one process, on one thread of a busy two-core AMD EPYC:

    model                XLA   weights   to the end of the first step   a step
    recurrent, digits    no         31   1.43 (1.18 to 1.73)            1.10 (0.91 to 1.11)
    recurrent, digits    yes        31   1.22 (1.19 to 1.26)            1.05 (0.88 to 1.16)
    ByteNet, numbers     no         74   1.79 (1.61 to 1.98)            1.13 (1.05 to 1.47)
    ByteNet, multi30k    no        214   2.19 (one turn)                0.95 (0.87 to 1.10)

"nag" is `Nag`. All other names are Keras's classes. "adam" in the folder of an earlier run means `FlatAdam`, too, so it
can be resumed.
"""

import inspect
from functools import cache
from typing import Any

import keras

from bytenet.config import TrainingConfig
from bytenet.errors import ConfigError, nearest
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.optimizers.keras_optimizer import KerasOptimizer, scope_of
from bytenet.training.optimizers.nag import Nag
from bytenet.training.optimizers.schedules import make_schedule
from bytenet.training.optimizers.training_optimizer import TrainingOptimizer

# Arguments of the classes that are settings of their own.
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
# Arguments that would change what a step or a name is.
_NOT_OFFERED = ("name", "loss_scale_factor", "gradient_accumulation_steps")


def make_optimizer(training: TrainingConfig, total_steps: int) -> TrainingOptimizer:
    """The optimiser of a run, with its schedule, clipping, averaging and accumulation.

    Args:
        training: reads `optimizer` and all settings of it.
        total_steps: updates of the run, for the schedule.

    Raises:
        ConfigError: there is no such optimiser, or it does not take the arguments.
    """
    check_optimizer(training)
    schedule = make_schedule(training, total_steps)
    accumulates = training.accumulate_batches > 1
    if training.optimizer == "adam":
        return FlatAdam(
            schedule, training.beta_1, training.beta_2, training.epsilon,
            clip_norm=training.clip_norm, ema_momentum=training.ema_momentum, accumulates=accumulates,
            exchange_dtype=training.exchange_dtype,
        )  # fmt: skip
    kind = _classes()[training.optimizer]
    settings = {"beta_1": training.beta_1, "beta_2": training.beta_2, "epsilon": training.epsilon}
    arguments: dict[str, Any] = {name: value for name, value in settings.items() if name in _arguments(kind)}
    try:
        return KerasOptimizer(
            kind, schedule, training.clip_norm, training.ema_momentum, accumulates, training.exchange_dtype,
            **(arguments | training.optimizer_arguments),
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"training.optimizer_arguments is {training.optimizer_arguments}, but {training.optimizer} refuses that: "
            f"{error}"
        ) from error


def check_optimizer(training: TrainingConfig) -> None:
    """Raise a ConfigError if there is no such optimiser, or if it has no arguments of these names."""
    names = optimizer_names()
    if training.optimizer not in names:
        raise ConfigError(
            f"training.optimizer is {training.optimizer!r}, but should be one of {', '.join(names)}."
            f"{nearest(training.optimizer, names)}"
        )
    known = [] if training.optimizer == "adam" else _arguments(_classes()[training.optimizer])
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
    return sorted(["adam", *_classes()])


def optimizer_scopes() -> frozenset[str]:
    """The names of all optimisers in the graph of a training step."""
    return frozenset(map(scope_of, _classes().values()))


@cache
def _classes() -> dict[str, type[keras.optimizers.Optimizer]]:
    """The classes by name: `Nag`, and Keras's optimisers that take a learning rate and not another optimiser."""
    kinds = {
        name.lower(): kind
        for name, kind in vars(keras.optimizers).items()
        if isinstance(kind, type)
        and issubclass(kind, keras.optimizers.Optimizer)
        and kind is not keras.optimizers.Optimizer
        and "learning_rate" in inspect.signature(kind).parameters
    }
    kinds["keras_adam"] = kinds.pop("adam")
    kinds["nag"] = Nag
    return kinds


def _arguments(kind: type[keras.optimizers.Optimizer]) -> list[str]:
    """Names of the arguments of an optimiser that can be set."""
    return [name for name in inspect.signature(kind).parameters if name not in (*_NOT_OFFERED, "kwargs")]
