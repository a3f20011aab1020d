"""What is said at the start of a training: its data, its model, and what may go wrong with them."""

from collections.abc import Mapping, Sequence

import keras
import numpy as np

from bytenet.datasets import BatchPlan
from bytenet.models import TranslationModel
from bytenet.training.environment import num_trainable
from bytenet.training.monolingual import Side, directions_taught, weighted_texts
from bytenet.training.optimizers import translators_of
from bytenet.training.preparation import Preparation
from bytenet.training.progress import ProgressLine

_SHARE_OF_LONG_TARGETS = 0.01


def announce(progress: ProgressLine, run: Preparation, model: keras.Model) -> None:
    """Say what a training will do before it does it, and what about its settings and data speaks against it."""
    corpus, plan = run.corpus, run.plan
    progress.say(
        f"{corpus.name}: {len(corpus.train):,} training pairs {corpus.source_language} -> {corpus.target_language} "
        f"({run.left_out:,} left out by data.min_length, max_length and max_train_pairs), "
        f"{len(corpus.validation or ()):,} for validation; {plan.num_batches:,} batches an epoch, "
        f"{run.total_steps:,} steps in all; padding {plan.padding_share:.0%}; {_shapes(plan)}"
    )
    compiled = "compiled with XLA" if run.jit_compile else "not compiled"
    size = f"{num_trainable(model):,} trainable parameters, {model.vocab_size} symbols"
    progress.say(f"{model.name}: {size}; steps {compiled}")
    _say_which_texts(progress, run)
    if run.config.training.early_stopping_patience is not None and not corpus.validation:
        progress.say(
            "warning: without validation pairs training.early_stopping_patience does nothing, and the last model is "
            "the one that is kept. data.validation_source and data.validation_target name some."
        )
    _warn_of_long_targets(progress, run.lengths, translators_of(model))
    _warn_of_short_searches(progress, run)


def _say_which_texts(progress: ProgressLine, run: Preparation) -> None:
    semi, corpus = run.config.semi_supervised, run.corpus
    if not semi.enabled:
        if corpus.monolingual_source or corpus.monolingual_target:
            progress.say("monolingual text: not used, as semi_supervised.enabled is false")
        if any(semi.starts.values()):
            progress.say(
                "warning: semi_supervised.start_forward and start_backward are not read, as semi_supervised.enabled is "
                "false; the weights are drawn anew. To go on from them with the pairs alone, enable it with "
                "semi_supervised.source_weight and target_weight 0."
            )
        return
    for text in run.texts:
        progress.say(
            f"monolingual {text.side} text: {len(text.selected.texts):,} sentences "
            f"({text.selected.outside_limits:,} left out by data.min_length and max_length, "
            f"{text.selected.unknown_characters:,} for characters that are not in the vocabulary); "
            f"{text.plan.num_batches:,} batches once round; {_shapes(text.plan)}; translations of up to "
            f"{max(text.search_lengths.values())} symbols are searched; teaches the "
            f"{' and '.join(directions_taught(text.side, semi))} translator"
        )
    for side in weighted_texts(corpus, semi):
        if side in run.streams:
            continue
        progress.say(
            f"monolingual {side} text: not used; with semi_supervised.objective {semi.objective} and trained "
            f"{semi.trained} nothing is learned from it"
        )
    if not run.texts:
        progress.say(
            "warning: nothing is learned from monolingual text, only from the pairs. It takes text, as "
            "data.monolingual_source or data.monolingual_target or of the corpus's own, and "
            "semi_supervised.source_weight or target_weight above 0."
        )


def _shapes(plan: BatchPlan) -> str:
    shapes = ", ".join(f"{rows} x {length}" for rows, length in plan.shapes)
    return f"{len(plan.shapes)} batch shapes: {shapes}"


def _warn_of_long_targets(
    progress: ProgressLine, lengths: Mapping[Side, np.ndarray], translators: Sequence[TranslationModel]
) -> None:
    """Say when the length rule cuts off translations such as those of the training pairs, in either direction."""
    directions: tuple[tuple[Side, Side], ...] = (("target", "source"), ("source", "target"))
    for model, (this, that) in zip(translators, directions, strict=False):  # a supervised model has the first
        if model.length_policy.pads_to_pair:
            continue
        read, places = np.unique(lengths[that], return_inverse=True)
        limits = np.array([model.max_target_length(int(length)) for length in read])[places]
        too_long = np.mean(lengths[this] > limits)
        if too_long > _SHARE_OF_LONG_TARGETS:
            progress.say(
                f"warning: {too_long:.1%} of the training {this}s are longer than the model may write for their "
                f"{that}s. A larger model.unfold_scale or model.unfold_offset gives it room."
            )


def _warn_of_short_searches(progress: ProgressLine, run: Preparation) -> None:
    """Say when the length rule "pair" cuts off what is found for text, as no pair tells how long it should be."""
    if not run.config.model.length_policy.pads_to_pair:
        return
    for text in run.texts:
        other: Side = "source" if text.side == "target" else "target"
        padded = np.array(sorted(text.search_lengths))  # which this rule searches as far as
        places = np.searchsorted(padded, run.lengths[text.side])
        known = places < len(padded)  # no longer than the longest text
        too_long = np.mean(run.lengths[other][known] > padded[places[known]]) if known.any() else 0.0
        if too_long > _SHARE_OF_LONG_TARGETS:
            progress.say(
                f"warning: translations of monolingual {text.side} text are searched no longer than the text "
                f"(model.length_rule: pair), but {too_long:.1%} of the training {other}s are longer than their "
                f"{text.side}s. With semi_supervised.{text.side}_weight 0 nothing is learned from such stumps; with "
                "model.length_rule unfold they have room."
            )
