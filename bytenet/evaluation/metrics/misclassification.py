"""Rates of wrong characters and of wholly right sentences."""

from collections.abc import Sequence

import numpy as np

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.errors import InputError
from bytenet.evaluation.metrics.bootstrap import DEFAULT_SEED, bootstrap_interval, check_parallel
from bytenet.evaluation.metrics.scores import Score


def pooled_misclassification(predicted_ids: np.ndarray, target_ids: np.ndarray) -> Score:
    """Wrong symbols over real target symbols of a batch, place by place: the thesis's rate in training.

    Args:
        predicted_ids: int `(batch, any length)`, what was decoded; a missing place counts as padding.
        target_ids: int `(batch, target_length)`, 0 where padded; the end symbol is a symbol.

    Returns:
        A `Score` from 0 to 1; 0 when no target symbol is real.

    Raises:
        InputError: the batches differ in size.

    Reference:
        Madsen 2017, figure 3.3.1; its `misclassification_rate.py`.
    """
    predicted_ids, target_ids = np.asarray(predicted_ids), np.asarray(target_ids)
    _check_batches(predicted_ids, target_ids)
    length = target_ids.shape[1]
    missing = max(0, length - predicted_ids.shape[1])
    aligned = np.pad(predicted_ids[:, :length], [(0, 0), (0, missing)], constant_values=PAD_ID)
    real = target_ids != PAD_ID
    value = float(np.sum((aligned != target_ids) & real) / max(1, real.sum()))
    return Score("misclassification", value, len(target_ids), settings="pooled over target symbols", digits=4)


def sentence_misclassification(predicted: np.ndarray | Sequence[str], targets: np.ndarray | Sequence[str]) -> Score:
    """Mean over sentences of the share of wrong symbols in the prediction: the rate of the thesis's grid.

    Both sides are cut after their first end symbol. A place beyond the target's end is wrong; a target that
    goes on after the prediction's end costs nothing but the wrong end symbol.

    Args:
        predicted: int `(batch, any length)`, what was decoded; rows without an end symbol count in full. Or
            texts, which count as ended.
        targets: int `(batch, any length)`, or texts.

    Returns:
        A `Score` from 0 to 1.

    Raises:
        InputError: the batches are empty or differ in size.

    Reference:
        Madsen 2017, figure 3.6.1 and its code for it.
    """
    predicted_ids, target_ids = _as_ids(predicted), _as_ids(targets)
    _check_batches(predicted_ids, target_ids)
    length = max(predicted_ids.shape[1], target_ids.shape[1])
    predicted_ids, predicted_lengths = _cut_and_pad(predicted_ids, length)
    target_ids, target_lengths = _cut_and_pad(target_ids, length)
    inside = np.arange(length) < np.minimum(predicted_lengths, target_lengths)[:, None]
    matches = np.sum((predicted_ids == target_ids) & inside, axis=1)
    rates = 1 - matches / np.maximum(predicted_lengths, 1)
    return Score(
        "misclassification",
        float(rates.mean()),
        len(rates),
        settings="mean over sentences, by predicted length",
        digits=4,
    )


def exact_match(
    hypotheses: Sequence[str], references: Sequence[str], bootstrap: int = 1000, seed: int = DEFAULT_SEED
) -> Score:
    """Share of translations that equal their reference, character by character.

    Args:
        hypotheses: the translations.
        references: as many, in the same order.
        bootstrap: resampled corpora for the interval; 0 for no interval.
        seed: of the resampling.

    Returns:
        A `Score` from 0 to 1.

    Raises:
        InputError: numbers of hypotheses and references differ, or there are none.
    """
    check_parallel(hypotheses, references)
    right = np.array([[hyp == ref] for hyp, ref in zip(hypotheses, references, strict=True)], np.float64)
    count = len(right)
    return Score(
        "exact-match",
        float(right.mean()),
        count,
        interval=bootstrap_interval(right, lambda total: float(total[0]) / count, bootstrap, seed),
        digits=4,
    )


def _check_batches(predicted_ids: np.ndarray, target_ids: np.ndarray) -> None:
    if predicted_ids.ndim != 2 or target_ids.ndim != 2 or len(predicted_ids) != len(target_ids):
        raise InputError(
            f"Predicted ids {predicted_ids.shape} and target ids {target_ids.shape} do not belong together; "
            "both should be (batch, length) with the same batch."
        )
    if not len(target_ids):
        raise InputError("There are no sentences to score; give at least one row of ids.")


def _as_ids(sentences: np.ndarray | Sequence[str]) -> np.ndarray:
    """Ids `(batch, length)`; of texts, code points moved past the end symbol's id."""
    if not all(isinstance(sentence, str) for sentence in sentences):
        return np.asarray(sentences)
    ids = np.full((len(sentences), max(map(len, sentences), default=0) + 1), PAD_ID)
    for row, text in zip(ids, sentences, strict=True):
        row[: len(text) + 1] = [*(ord(character) + EOS_ID + 1 for character in text), EOS_ID]
    return ids


def _cut_and_pad(ids: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids `(batch, length)`, and how many of each row are up to and with its first end symbol."""
    ended = ids == EOS_ID
    lengths = np.where(ended.any(axis=1), ended.argmax(axis=1) + 1, ids.shape[1])
    return np.pad(ids, [(0, 0), (0, length - ids.shape[1])], constant_values=PAD_ID), lengths
