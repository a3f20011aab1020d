"""Warnings about the settings of a training, for its start."""

from collections.abc import Iterator
from dataclasses import fields

from bytenet.config import SemiSupervisedConfig, TrainingConfig
from bytenet.config.settings_without_effect import changed_settings, without_effect
from bytenet.training.optimizers.keras_classes import changes_without_effect

_OF_SEVERAL_DEVICES = ("sync_batch_norm", "exchange_dtype")


def training_warnings(training: TrainingConfig, num_batches: int, replicas: int) -> Iterator[str]:
    """A message for each setting that does nothing, or that does not suit the length of the training.

    Args:
        training: settings of the run.
        num_batches: in an epoch.
        replicas: number of devices that share each batch.
    """
    steps, updates = training.total_steps(num_batches), training.total_updates(num_batches)
    if unread := changes_without_effect(training):
        yield f"warning: {without_effect(unread, f'training.optimizer is {training.optimizer}')}"
    if replicas == 1 and (unread := changed_settings("training", training, _OF_SEVERAL_DEVICES)):
        yield f"warning: {without_effect(unread, 'the batches are not split over several devices')}"
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


def semi_supervised_settings_without_effect(semi: SemiSupervisedConfig) -> Iterator[str]:
    """Messages about changed settings of `semi_supervised` that have no effect, because it is not enabled.

    The message about the text is not a warning: a training on pairs alone may keep the settings of one with text.
    """
    if semi.enabled:
        return
    of_text = [field.name for field in fields(semi) if not field.name.startswith("start_")]
    if unread := changed_settings("semi_supervised", semi, of_text):
        yield (
            f"{without_effect(unread, 'semi_supervised.enabled is false')} To learn from monolingual text, set it to "
            "true."
        )
    if any(semi.starts.values()):
        yield (
            "warning: semi_supervised.start_forward and start_backward are not read, because semi_supervised.enabled "
            "is false. The weights are drawn from the seed. To train on pairs alone, set training.start to the start "
            "of the direction that you train."
        )
