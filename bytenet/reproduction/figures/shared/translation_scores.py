"""Scores of a finished training's translations, and their gains over other translations, as columns of a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bytenet.reproduction.engine.experiment import Row

if TYPE_CHECKING:
    from bytenet.evaluation import Evaluation

SCORES = {"bleu": "BLEU", "chrf": "chrF2"}
"""The scores by their columns."""


def score_columns(result: "Evaluation") -> Row:
    """`bleu`, `bleu_low`, `bleu_high`, the same for `chrf`, and `length_ratio`; the bounds are bootstrap intervals."""
    scores = {score.name: score for score in result.scores}
    row: Row = {}
    for key, name in SCORES.items():
        row |= _with_interval(key, scores[name].value, scores[name].interval)
    return row | {"length_ratio": scores["length-ratio"].value}


def gain_columns(result: "Evaluation", control: Sequence[str] | None, language: str) -> Row:
    """`bleu_gain`, `bleu_gain_low`, ... over the translations of a control, with intervals of the paired bootstrap.

    Args:
        result: the evaluated translations.
        control: the translations of the same sentences by the control; None leaves the columns empty.
        language: of the translations.
    """
    from bytenet.evaluation import compare_translations

    gains = {}
    if control is not None:
        both = {"changed": result.hypotheses, "control": control}
        comparison = compare_translations(None, result.references, both, language)
        gains = {score.name.removesuffix(" difference"): score for score in comparison.differences}
    row: Row = {}
    for key, name in SCORES.items():
        gain = gains.get(name)
        row |= _with_interval(f"{key}_gain", gain.value if gain else None, gain.interval if gain else None)
    return row


def _with_interval(key: str, value: float | None, interval: tuple[float, float] | None) -> Row:
    low, high = interval or ("", "")
    return {key: "" if value is None else value, f"{key}_low": low, f"{key}_high": high}
