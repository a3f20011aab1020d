"""Warnings about the settings of a training, for its start."""

from collections.abc import Iterator

from bytenet.config import TrainingConfig
from bytenet.config.settings_without_effect import without_effect
from bytenet.training.optimizers.keras_classes import changes_without_effect


def training_warnings(training: TrainingConfig, num_batches: int) -> Iterator[str]:
    """A message for each setting that does nothing, or that does not suit the length of the training.

    Args:
        training: settings of the run.
        num_batches: in an epoch.
    """
    steps, updates = training.total_steps(num_batches), training.total_updates(num_batches)
    if unread := changes_without_effect(training):
        yield f"warning: {without_effect(unread, f'training.optimizer is {training.optimizer}')}"
    if training.max_steps is not None and training.max_steps > steps:
        yield (
            f"warning: training.max_steps {training.max_steps:,} has no effect: the run has only {steps:,} steps, with "
            f"training.epochs {training.epochs:,}. To train longer, set training.epochs higher."
        )
    if not updates:
        yield (
            f"warning: the weights will not change: each update needs {training.accumulate_batches} batches "
            f"(training.accumulate_batches), and the run has only {steps}. Set training.max_steps higher."
        )
    elif training.warmup_steps >= updates:
        yield (
            "warning: the learning rate rises until the end, because training.warmup_steps is "
            f"{training.warmup_steps:,}, and the training has {updates:,} updates. Set it lower."
        )
