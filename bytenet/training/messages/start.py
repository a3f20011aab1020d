"""Messages at the start of a training: its data, its model, and warnings about both."""

from collections.abc import Iterator

import keras
import numpy as np

from bytenet.datasets.corpora.preparation.lookup import how_to_give_validation_pairs
from bytenet.models.model_size import num_trainable
from bytenet.training.callbacks.progress_line import ProgressLine
from bytenet.training.tasks import Task
from bytenet.training.tasks.task import SHARE_OF_LONG_TARGETS


def say_what_is_trained(progress: ProgressLine, task: Task, model: keras.Model) -> None:
    """Print the data and the model of a training, and warn of settings that do not suit the data."""
    corpus, plan, pairs = task.corpus, task.plan, task.pairs
    progress.say(
        f"{corpus.name}: {pairs.number:,} training pairs {corpus.source_language} -> {corpus.target_language} "
        f"({pairs.left_out:,} left out by data.min_length, max_length and max_train_pairs), "
        f"{len(corpus.validation or ()):,} for validation; {plan.num_batches:,} batches an epoch, "
        f"{task.total_steps:,} steps in all; padding {plan.padding_share:.0%}; {plan.describe_shapes()}"
    )
    compiled = "compiled with XLA" if task.jit_compile else "not compiled"
    size = f"{num_trainable(model):,} trainable parameters, {model.vocab_size} symbols"
    progress.say(f"{task.config.model.kind}: {size}; steps {compiled}")
    for message in task.messages():
        progress.say(message)
    if not corpus.validation:
        patience = task.config.training.early_stopping_patience
        effect = "the best model is not known, and the last one is kept"
        if patience is not None:
            effect = "training.early_stopping_patience does nothing, and the last model is kept"
        progress.say(
            f"warning: there are no validation pairs, so {effect}. {how_to_give_validation_pairs(task.config.data)}"
        )
    for message in _warnings_of_long_targets(task, model):
        progress.say(message)


def _warnings_of_long_targets(task: Task, model: keras.Model) -> Iterator[str]:
    """Warnings of translations that the length policy cuts off, as far as the training pairs show."""
    translators = task.translators(model)
    advice = "Set model.unfold_scale or model.unfold_offset higher."
    if task.config.has_start:
        advice = "The limit is that of the model that the run starts from."
    for direction in task.directions:
        translator = translators[direction.name]
        if translator.length_policy.pads_to_pair:
            continue
        pairs = task.pairs
        lengths, places = np.unique(pairs.lengths[direction.reads], return_inverse=True)
        limits = np.array([translator.max_target_length(int(length)) for length in lengths])[places]
        too_long = np.average(pairs.lengths[direction.writes] > limits, weights=pairs.length_counts)
        if too_long > SHARE_OF_LONG_TARGETS:
            yield (
                f"warning: {too_long:.1%} of the training {direction.writes}s are longer than the model may write for "
                f"their {direction.reads}s. Such translations will be cut off. {advice}"
            )
