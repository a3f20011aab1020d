"""Monolingual text of a run: the sentences that are used, their batches, and the lengths of the searches."""

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
)
from bytenet.datasets.batches.pipeline import PREFETCHED_BATCHES, Loss
from bytenet.errors import InputError
from bytenet.training.starts import starts_of
from bytenet.training.tasks.direction import Side, directions_taught


@dataclass(frozen=True)
class MonolingualText:
    """Sentences of one language in batches.

    Attributes:
        side: "source" or "target".
        selected: the sentences, and how many others were left out.
        plan: of the batches, by the lengths of the sentences.
        seed: of the order of the batches.
        search_lengths: by padded length of a batch, most symbols of its translations.
    """

    side: Side
    selected: SelectedTexts
    plan: BatchPlan
    seed: int
    search_lengths: dict[int, int]


def weighted_texts(corpus: Corpus, settings: SemiSupervisedConfig) -> dict[Side, list[str]]:
    """The monolingual texts with a weight above 0, by side, whether or not they teach a translator."""
    sides: tuple[tuple[Side, list[str] | None, float], ...] = (
        ("source", corpus.monolingual_source, settings.source_weight),
        ("target", corpus.monolingual_target, settings.target_weight),
    )
    return {side: texts for side, texts, weight in sides if texts and weight}


def monolingual_texts(
    corpus: Corpus, config: Config, vocabulary: Vocabulary, lengths: Mapping[Side, np.ndarray], replicas: int
) -> list[MonolingualText]:
    """The monolingual texts that a run learns from. They have a weight above 0 and teach a translator.

    Args:
        corpus: with the training pairs that are used.
        config: reads the batches from `semi_supervised` and `data`, and the length policy from `model`.
        vocabulary: of the run.
        lengths: `encoded_lengths` of both sides of the training pairs.
        replicas: number of devices that share each batch.

    Raises:
        InputError: no sentence of a text is within the limits.
    """
    semi, monolingual = config.semi_supervised, []
    settings = {
        "batch_size": semi.batch_size or config.data.batch_size,
        "batch_chars": semi.batch_chars or (config.data.batch_chars if semi.batch_size is None else None),
        "bucketing": semi.bucketing,
        "num_buckets": semi.num_buckets,
        "min_size": semi.bucket_min_size,
        "min_width": semi.bucket_min_width,
    }
    # Each stream has its own seed, so that two texts of the same size do not come in the same order.
    sides: tuple[tuple[Side, Side, int], ...] = (("source", "target", 1), ("target", "source", 2))
    weighted = weighted_texts(corpus, semi)
    for side, other, stream in sides:
        if side not in weighted or not directions_taught(side, semi):
            continue
        texts = weighted[side]
        selected = select_monolingual(texts, config.data, vocabulary)
        if not selected.texts:
            starts = starts_of(config)
            origin = f"model of {starts[0].setting}" if starts else "training pairs"
            raise InputError(
                f"None of the {len(texts)} sentences of monolingual {side} text can be used: they need "
                f"{config.data.min_length} to {config.data.max_length} characters, all of them in the vocabulary of "
                f"the {origin}. Change data.min_length or data.max_length, or give text with these characters."
            )
        plan = plan_from_config(vocabulary.encoded_lengths(selected.texts), config.data, replicas, **settings)
        search_lengths = _search_lengths(plan, lengths[side], lengths[other], config.model.length_policy)
        monolingual.append(MonolingualText(side, selected, plan, config.training.seed + stream, search_lengths))
    return monolingual


def _search_lengths(
    plan: BatchPlan, lengths: np.ndarray, other_lengths: np.ndarray, policy: LengthPolicy
) -> dict[int, int]:
    """Most symbols of a translation, by padded length of the text.

    For each padded length, only training pairs whose text fits into it count, and the longest of their translations.

    Args:
        plan: of the texts.
        lengths: int `(pairs,)`, of the texts' side of the training pairs.
        other_lengths: int `(pairs,)`, of the other side.
        policy: of the model, see `LengthPolicy.search_length`.
    """
    limits = {}
    for padded_length in plan.padded_lengths:
        translations = other_lengths[lengths <= max(padded_length, lengths.min())]
        limits[padded_length] = policy.search_length(padded_length, int(translations.max()))
    return limits


def semi_supervised_dataset(
    pairs_dataset: tf.data.Dataset, texts: Sequence[MonolingualText], vocabulary: Vocabulary, loss: Loss, step: int
) -> tf.data.Dataset:
    """Endless batches for `TranslatorPair`. Each has a batch of pairs and a batch of every monolingual text.

    Args:
        pairs_dataset: from `training_dataset`.
        texts: of the run. Each has its own pace.
        vocabulary: of the run.
        loss: average over sentences or over characters.
        step: number of steps before the first batch, which gives the place in every text.
    """

    def both_directions(ids: dict[str, tf.Tensor], target_ids: tf.Tensor, weights: tf.Tensor) -> dict:
        return {**ids, "forward_weights": weights, "backward_weights": loss_weights(ids["source_ids"], loss)}

    def weighted(ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return ids, loss_weights(ids, loss)

    streams: dict[str, tf.data.Dataset] = {
        text.side: monolingual_dataset(text.selected.texts, vocabulary, text.plan, text.seed, step).map(weighted)
        for text in texts
    }
    return tf.data.Dataset.zip({"pairs": pairs_dataset.map(both_directions), **streams}).prefetch(PREFETCHED_BATCHES)
