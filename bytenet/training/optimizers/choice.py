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

from bytenet.config import TrainingConfig
from bytenet.training.optimizers.flat_adam import FlatAdam
from bytenet.training.optimizers.keras_classes import (
    arguments_from_config,
    check_optimizer,
    explaining_refusals,
    optimizer_classes,
)
from bytenet.training.optimizers.keras_optimizer import KerasOptimizer, scope_of
from bytenet.training.optimizers.schedules import make_schedule
from bytenet.training.optimizers.training_optimizer import TrainingOptimizer


def make_optimizer(training: TrainingConfig, total_updates: int) -> TrainingOptimizer:
    """The optimiser of a run, with its schedule, clipping, averaging and accumulation.

    Args:
        training: reads `optimizer` and all settings of it.
        total_updates: updates of the run, for the schedule.

    Raises:
        ConfigError: there is no such optimiser, or it does not take the arguments.
    """
    check_optimizer(training)
    schedule = make_schedule(training, total_updates)
    accumulates = training.accumulate_batches > 1
    if training.optimizer == "adam":
        return FlatAdam(
            schedule, training.beta_1, training.beta_2, training.epsilon,
            clip_norm=training.clip_norm, ema_momentum=training.ema_momentum, accumulates=accumulates,
            exchange_dtype=training.exchange_dtype,
        )  # fmt: skip
    kind = optimizer_classes()[training.optimizer]
    with explaining_refusals(training):
        return KerasOptimizer(
            kind, schedule, training.clip_norm, training.ema_momentum, accumulates, training.exchange_dtype,
            **arguments_from_config(kind, training),
        )  # fmt: skip


def optimizer_scopes() -> frozenset[str]:
    """The names of all optimisers in the graph of a training step."""
    return frozenset(map(scope_of, optimizer_classes().values()))
