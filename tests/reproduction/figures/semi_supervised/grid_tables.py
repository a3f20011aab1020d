"""Made-up tables of the grid of figures 3.6.1 and 3.6.2, and a function that finds a verdict on them."""

from bytenet.reproduction.figures.semi_supervised.baseline_runs import ATTENTION
from bytenet.reproduction.figures.semi_supervised.grid_runs import (
    SETTINGS,
    thesis_rows,
)
from bytenet.reproduction.registry import find_experiment

ERRORS, TIMES = (find_experiment(f"fig-3.6.{number}") for number in (1, 2))
NO_BASELINE = {ATTENTION: []}


def table(scale=1.0, seconds=60.0, settings=SETTINGS, keep=lambda row: True):
    """A grid with the errors of the thesis times `scale`. Each of its hours becomes `seconds` seconds."""
    return [
        {
            "settings": name, **row, "misclassification": row["misclassification"] * scale,
            "seconds": row["seconds"] * seconds / 3600, "wall_seconds": row["seconds"] * seconds / 3600,
            "side_by_side": 2, "steps": row["labelled"], "step_ms": row["seconds"] / row["labelled"],
            "processor": "slow",
        }
        for name in settings for row in thesis_rows() if keep(row)
    ]  # fmt: skip


def verdict(found, words):
    """The verdict whose quantity contains the words. If there are several, the one whose quantity ends with them."""
    having = [verdict for verdict in found if words in verdict.quantity]
    (one,) = having if len(having) == 1 else [verdict for verdict in having if verdict.quantity.endswith(words)]
    return one
