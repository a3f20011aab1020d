"""What is told at the start of a training: its data, its model, and what may go wrong with them."""

from collections.abc import Iterator

import keras
import numpy as np

from bytenet.training.callbacks.progress_line import ProgressLine
from bytenet.training.environment import num_trainable
from bytenet.training.tasks import Task
from bytenet.training.tasks.task import SHARE_OF_LONG_TARGETS
from bytenet.training.translators import translators_of


def announce(progress: ProgressLine, task: Task, model: keras.Model) -> None:
    """Tell what a training will do, and warn of settings that do not go with its data."""
    corpus, plan = task.corpus, task.plan
    progress.say(
        f"{corpus.name}: {len(corpus.train):,} training pairs {corpus.source_language} -> {corpus.target_language} "
        f"({task.left_out:,} left out by data.min_length, max_length and max_train_pairs), "
        f"{len(corpus.validation or ()):,} for validation; {plan.num_batches:,} batches an epoch, "
        f"{task.total_steps:,} steps in all; padding {plan.padding_share:.0%}; {plan.describe_shapes()}"
    )
    compiled = "compiled with XLA" if task.jit_compile else "not compiled"
    size = f"{num_trainable(model):,} trainable parameters, {model.vocab_size} symbols"
    progress.say(f"{model.name}: {size}; steps {compiled}")
    for message in task.messages():
        progress.say(message)
    if task.config.training.early_stopping_patience is not None and not corpus.validation:
        progress.say(
            "warning: without validation pairs training.early_stopping_patience does nothing, and the last model is "
            "the one that is kept. data.validation_source and data.validation_target name some."
        )
    for message in _warnings_of_long_targets(task, model):
        progress.say(message)


def _warnings_of_long_targets(task: Task, model: keras.Model) -> Iterator[str]:
    """Where the length policy cuts off translations such as those of the training pairs, in any direction."""
    directions = (("target", "source"), ("source", "target"))
    for translator, (this, that) in zip(translators_of(model), directions, strict=False):  # one or both
        if translator.length_policy.pads_to_pair:
            continue
        read, places = np.unique(task.lengths[that], return_inverse=True)
        limits = np.array([translator.max_target_length(int(length)) for length in read])[places]
        too_long = np.mean(task.lengths[this] > limits)
        if too_long > SHARE_OF_LONG_TARGETS:
            yield (
                f"warning: {too_long:.1%} of the training {this}s are longer than the model may write for their "
                f"{that}s. A larger model.unfold_scale or model.unfold_offset gives it room."
            )
