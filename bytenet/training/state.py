"""The state of a run, apart from its tensors."""

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import pydantic


def is_better(metric: str, score: float, earlier: float | None) -> bool:
    """Whether a score is better than an earlier one. Every score is better than None.

    Args:
        metric: "val_loss", where less is better, or another score, where more is better.
        score, earlier: values of the metric.
    """
    if earlier is None:
        return True
    return score < earlier if metric == "val_loss" else score > earlier


_Count = Annotated[int, pydantic.Field(ge=0, lt=2**62)]


@pydantic.with_config(extra="forbid")
@dataclass
class Plateau:
    """What the schedule "plateau" remembers of a translator.

    Attributes:
        cuts: number of cuts of the learning rate.
        score: with the rule "best", the best value of the metric so far; with "fast", the latest one.
        epoch: number of completed epochs at the best score or at the latest cut, whichever is later.
    """

    cuts: _Count = 0
    score: float | None = None
    epoch: _Count = 0


@pydantic.with_config(extra="forbid")
@dataclass
class TrainingState:
    """The place of a run in its data, and its best scores so far. Every checkpoint contains it.

    Attributes:
        epoch: number of completed epochs.
        batch: number of completed batches in the present epoch.
        step: number of completed batches since the start.
        best_scores: best value of the early-stopping metric so far, by direction of the translator; empty before the
            first evaluation.
        best_epoch: number of completed epochs when the latest best score was reached.
        plateaus: by direction of the translator; empty without the schedule "plateau".
        seconds: time spent training, including earlier processes.
        characters: number of real target characters trained on.
        data: fingerprint of the training texts and their batches. It must be the same when a run is resumed.
        validation: fingerprint of the validation pairs, likewise. Empty if an older version saved the state.
    """

    epoch: _Count = 0
    batch: _Count = 0
    step: _Count = 0
    best_scores: dict[str, float] = field(default_factory=dict)
    best_epoch: _Count = 0
    plateaus: dict[str, Plateau] = field(default_factory=dict)
    seconds: float = 0.0
    characters: _Count = 0
    data: str = ""
    validation: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The state for `from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> "TrainingState":
        """A saved state. Older versions saved only the best score of the forward translator.

        Raises:
            pydantic.ValidationError: it is something else.
        """
        saved = dict(saved)
        if "best_score" in saved:
            best = saved.pop("best_score")
            saved["best_scores"] = {} if best is None else {"forward": best}
        return _STATE.validate_python(saved)


_STATE = pydantic.TypeAdapter(TrainingState)
