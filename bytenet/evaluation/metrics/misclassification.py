"""Rates of wrong characters."""

from collections.abc import Sequence

import numpy as np

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.errors import InputError
from bytenet.evaluation.metrics.scores import Score

_COMPARED_AT_ONCE = 1_000  # sentences


def pooled_misclassification(predicted_ids: np.ndarray, target_ids: np.ndarray) -> Score:
    """Wrong symbols of a batch divided by its real target symbols: the thesis's rate in training.

    Symbols are compared position by position.

    Args:
        predicted_ids: int `(batch, any length)`, the decoded ids; a missing position counts as padding.
        target_ids: int `(batch, target_length)`, padded with 0. The end symbol counts as a symbol.

    Returns:
        A `Score` from 0 to 1; 0 if there is no real target symbol.

    Raises:
        InputError: the batches differ in size, have no rows, or are not two-dimensional.

    Reference:
        Madsen 2017, figure 3.3.1; `misclassification_rate.py` in its code.
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

    Both sides are cut after their first end symbol. Positions beyond the target's end are wrong. If the prediction ends
    before the target, only its end symbol is wrong.

    Args:
        predicted: int `(batch, any length)`, the decoded ids; a row without an end symbol counts completely, and a row
            without symbols counts as wrong. Or texts, which count as ended.
        targets: int `(batch, any length)`, or texts.

    Returns:
        A `Score` from 0 to 1.

    Raises:
        InputError: the batches are empty or differ in size.

    Reference:
        Madsen 2017, figure 3.6.1 and the code of the figure.
    """
    if len(predicted) != len(targets) or not len(targets):
        _check_batches(_as_ids(predicted), _as_ids(targets))
    # A long sentence pads those beside it, so a few are compared at once.
    parts = [slice(start, start + _COMPARED_AT_ONCE) for start in range(0, len(targets), _COMPARED_AT_ONCE)]
    rates = np.concatenate([_rates(_as_ids(predicted[part]), _as_ids(targets[part])) for part in parts])
    return Score(
        "misclassification",
        float(rates.mean()),
        len(rates),
        settings="mean over sentences, by predicted length",
        digits=4,
    )


def _rates(predicted_ids: np.ndarray, target_ids: np.ndarray) -> np.ndarray:
    """The share of wrong symbols in each prediction, float `(batch,)`."""
    _check_batches(predicted_ids, target_ids)
    length = max(predicted_ids.shape[1], target_ids.shape[1])
    predicted_ids, predicted_lengths = _cut_and_pad(predicted_ids, length)
    target_ids, target_lengths = _cut_and_pad(target_ids, length)
    inside = np.arange(length) < np.minimum(predicted_lengths, target_lengths)[:, None]
    matches = np.sum((predicted_ids == target_ids) & inside, axis=1)
    return 1 - matches / np.maximum(predicted_lengths, 1)


def _check_batches(predicted_ids: np.ndarray, target_ids: np.ndarray) -> None:
    if predicted_ids.ndim != 2 or target_ids.ndim != 2 or len(predicted_ids) != len(target_ids):
        raise InputError(
            f"Predicted ids have the shape {predicted_ids.shape} and target ids {target_ids.shape}; expected "
            "(batch, length) for both, with the same batch size."
        )
    if not len(target_ids):
        raise InputError("There are no sentences to score. Give at least one row of ids.")


def _as_ids(sentences: np.ndarray | Sequence[str]) -> np.ndarray:
    """Ids `(batch, length)`. For texts, these are code points, shifted beyond the id of the end symbol."""
    if not all(isinstance(sentence, str) for sentence in sentences):
        return np.asarray(sentences)
    ids = np.full((len(sentences), max(map(len, sentences), default=0) + 1), PAD_ID)
    for row, text in zip(ids, sentences, strict=True):
        row[: len(text) + 1] = [*(ord(character) + EOS_ID + 1 for character in text), EOS_ID]
    return ids


def _cut_and_pad(ids: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids `(batch, length)`, and the length of each row up to its first end symbol, which is counted."""
    ends = ids == EOS_ID
    lengths = np.sum(np.cumsum(ends, axis=1) == ends, axis=1)  # of the positions without an end symbol before them
    return np.pad(ids, [(0, 0), (0, length - ids.shape[1])], constant_values=PAD_ID), lengths
