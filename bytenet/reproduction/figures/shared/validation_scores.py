"""Greedy validation scores of a training, as columns of a table."""

import math
from collections.abc import Mapping, Sequence

SELECTED_BY = "val_chrf"
"""The score by which the trainings of these experiments keep their model."""
VALIDATED = ("val_loss", "val_bleu", "val_chrf")
"""What is measured on the validation set."""


def kept_model_columns(metrics: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The scores of the kept model (`VALIDATED`), its step, and the steps and minutes of the training.

    Args:
        metrics: columns of `metrics.csv`, with at least one epoch that has the score `SELECTED_BY`.
    """
    scores = metrics[SELECTED_BY]
    best = max((index for index, score in enumerate(scores) if not math.isnan(score)), key=scores.__getitem__)
    return {
        **{name: metrics[name][best] for name in VALIDATED},
        "best_step": int(metrics["step"][best]),
        "steps": int(metrics["step"][-1]),
        "minutes": metrics["seconds"][-1] / 60,
    }
