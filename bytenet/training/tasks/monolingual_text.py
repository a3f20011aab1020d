"""Monolingual text of a run: what of it is used, in which batches, and how long its translations are searched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from bytenet.config import Config, LengthPolicy, SemiSupervisedConfig
from bytenet.datasets import (
    BatchPlan,
    Corpus,
    SelectedTexts,
    Vocabulary,
    loss_weights,
    monolingual_dataset,
    plan_from_config,
    select_monolingual,
    text_lengths,
)
from bytenet.datasets.batches.pipeline import Loss
from bytenet.errors import InputError
from bytenet.training.tasks.direction import Side

DIRECTIONS = ("forward", "backward")
#: By side of a monolingual text: what translates it, and what translates that back.
FORTH_AND_BACK: dict[Side, tuple[str, str]] = {"source": ("forward", "backward"), "target": ("backward", "forward")}


@dataclass(frozen=True)
class MonolingualText:
    """Sentences of one language, and the batches they come in.

    Attributes:
        side: "source", translated forth and back again, or "target", translated back and forth again.
        selected: the sentences, and how many others there were.
        plan: of their batches, by their own lengths.
        seed: of the order of the batches.
        search_lengths: by the padded length of a batch, most symbols of its translations.
    """

    side: Side
    selected: SelectedTexts
    plan: BatchPlan
    seed: int
    search_lengths: dict[int, int]


def directions_trained(settings: SemiSupervisedConfig) -> list[str]:
    """Which of the translators learn."""
    return [name for name in DIRECTIONS if settings.trained in ("both", name)]


def directions_taught(side: Side, settings: SemiSupervisedConfig) -> list[str]:
    """Which of the translators learn from the text of a side: by back-translation only the one that translates back."""
    forth, back = FORTH_AND_BACK[side]
    by_text = (forth, back) if settings.objective == "marginal" else (back,)
    return [name for name in directions_trained(settings) if name in by_text]


def weighted_texts(corpus: Corpus, settings: SemiSupervisedConfig) -> dict[Side, list[str]]:
    """The monolingual texts that there are and that have a weight, whether or not they teach a translator; by side."""
    sides: tuple[tuple[Side, list[str] | None, float], ...] = (
        ("source", corpus.monolingual_source, settings.source_weight),
        ("target", corpus.monolingual_target, settings.target_weight),
    )
    return {side: texts for side, texts, weight in sides if texts and weight}


def monolingual_texts(
    corpus: Corpus, config: Config, vocabulary: Vocabulary, lengths: Mapping[Side, np.ndarray], replicas: int
) -> list[MonolingualText]:
    """The monolingual texts that a run learns from: those that are there, have a weight, and teach a translator.

    Args:
        corpus: with the training pairs that are used.
        config: of the run.
        vocabulary: of the pairs.
        lengths: `text_lengths` of both sides of the training pairs.
        replicas: devices that share each batch.

    Raises:
        InputError: nothing of a text is within the limits.
    """
    semi, found = config.semi_supervised, []
    settings = {
        "batch_size": semi.batch_size or config.data.batch_size,
        "batch_chars": semi.batch_chars or (config.data.batch_chars if semi.batch_size is None else None),
        "bucketing": semi.bucketing,
        "num_buckets": semi.num_buckets,
        "min_size": semi.bucket_min_size,
        "min_width": semi.bucket_min_width,
    }
    # The streams have seeds of their own: two texts of one size are not to come in the same order.
    sides: tuple[tuple[Side, Side, int], ...] = (("source", "target", 1), ("target", "source", 2))
    weighted = weighted_texts(corpus, semi)
    for side, other, stream in sides:
        if side not in weighted or not directions_taught(side, semi):
            continue
        texts = weighted[side]
        selected = select_monolingual(texts, config.data, vocabulary)
        if not selected.texts:
            raise InputError(
                f"None of the {len(texts)} sentences of monolingual {side} text has {config.data.min_length} to "
                f"{config.data.max_length} characters, all of which occur in the training pairs. Change "
                "data.min_length or data.max_length, or give text that is more like the pairs."
            )
        plan = plan_from_config(text_lengths(selected.texts, vocabulary), config.data, replicas, **settings)
        search_lengths = _search_lengths(plan, lengths[side], lengths[other], config.model.length_policy)
        found.append(MonolingualText(side, selected, plan, config.training.seed + stream, search_lengths))
    return found


def _search_lengths(plan: BatchPlan, these: np.ndarray, others: np.ndarray, policy: LengthPolicy) -> dict[int, int]:
    """As long as the longest translation that a training pair has for a text no longer, by padded length.

    Args:
        plan: of the texts.
        these, others: lengths of the texts' side of each pair, and of the other.
        policy: of the model, see `LengthPolicy.search_length`.
    """
    limits = {}
    for length in plan.padded_lengths:
        of_such = others[these <= max(length, these.min())]
        limits[length] = policy.search_length(length, int(of_such.max()))
    return limits


def semi_supervised_dataset(
    pairs_dataset: tf.data.Dataset, texts: Sequence[MonolingualText], vocabulary: Vocabulary, loss: Loss, step: int
) -> tf.data.Dataset:
    """Endless batches for `TranslatorPair`: of pairs, and beside each one of every monolingual text.

    Args:
        pairs_dataset: as `training_dataset` gives it.
        texts: of the run; each goes round at its own pace.
        vocabulary: of the run.
        loss: what a loss is averaged over.
        step: number of steps done before the first batch, which tells the place in every text.
    """

    def both_directions(ids: dict[str, tf.Tensor], target_ids: tf.Tensor, weights: tf.Tensor) -> dict:
        return {**ids, "forward_weights": weights, "backward_weights": loss_weights(ids["source_ids"], loss)}

    def weighed(ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return ids, loss_weights(ids, loss)

    streams: dict[str, tf.data.Dataset] = {
        text.side: monolingual_dataset(text.selected.texts, vocabulary, text.plan, text.seed, step).map(weighed)
        for text in texts
    }
    return tf.data.Dataset.zip({"pairs": pairs_dataset.map(both_directions), **streams}).prefetch(tf.data.AUTOTUNE)
