"""The rule of the schedule "plateau": when scores show no progress, and what the learning rate is then."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import pydantic

from bytenet.config import TrainingConfig


def is_better(metric: str, score: float, earlier: float | None) -> bool:
    """Whether a score is better than an earlier one. Every score is better than None, and every number than NaN.

    Args:
        metric: "val_loss", where less is better, or another score, where more is better.
        score, earlier: values of the metric.
    """
    if earlier is None:
        return True
    if math.isnan(earlier):
        return not math.isnan(score)
    return score < earlier if metric == "val_loss" else score > earlier


Count = Annotated[int, pydantic.Field(ge=0, lt=2**62)]


@pydantic.with_config(extra="forbid")
@dataclass
class Plateau:
    """What the schedule "plateau" remembers of a translator.

    Attributes:
        cuts: number of cuts of the learning rate.
        score: with the rule "best", the best value of the metric so far; with "fast", the latest one.
        epoch: number of completed epochs at the best score or at the latest cut, whichever is later.
    """

    cuts: Count = 0
    score: float | None = None
    epoch: Count = 0


def cut_after(score: float, epoch: int, plateau: Plateau, config: TrainingConfig) -> bool:
    """Whether an evaluation cuts the learning rate.

    Args:
        score: of the evaluation, by `early_stopping_metric`.
        epoch: number of completed epochs.
        plateau: of the translator; kept up to date.
        config: reads the rule, its patience and the metric.
    """
    progress = is_better(config.early_stopping_metric, score, plateau.score)
    if config.plateau_rule == "fast":
        plateau.score = score
        cut = plateau.cuts > 0 or not progress
    else:
        if progress:
            plateau.score, plateau.epoch = score, epoch
        cut = epoch - plateau.epoch >= config.plateau_patience
    if cut:
        plateau.cuts += 1
        plateau.epoch = epoch
    return cut


def plateau_rate(config: TrainingConfig, cuts: int) -> float:
    """The learning rate after a number of cuts."""
    return max(config.learning_rate * config.decay_factor**cuts, config.final_learning_rate)


def is_below_least_rate(plateaus: Iterable[Plateau], config: TrainingConfig) -> bool:
    """Whether the learning rates of all translators of a run are below `min_learning_rate`, so that the run ends."""
    least = config.min_learning_rate
    rates = [plateau_rate(config, plateau.cuts) for plateau in plateaus]
    return least is not None and bool(rates) and max(rates) < least
