"""Where a run stands, apart from its tensors."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self


@dataclass
class TrainingState:
    """The place of a run in its data, and what it has found so far; saved with every checkpoint.

    Attributes:
        epoch: epochs completed.
        batch: batches completed in the epoch begun.
        step: batches completed since the start.
        best_scores: best value of the early-stopping metric so far, by direction of the translator; empty before the
            first evaluation.
        best_epoch: epochs completed when the latest of them was found.
        seconds: time spent training, earlier processes included.
        characters: real target characters trained on.
        data: fingerprint of the training pairs, the monolingual text and the batches of both, which a resumed run must
            find again.
        validation: fingerprint of the validation pairs, as well; empty in states of versions that kept none.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    best_scores: dict[str, float] = field(default_factory=dict)
    best_epoch: int = 0
    seconds: float = 0.0
    characters: int = 0
    data: str = ""
    validation: str = ""

    def to_dict(self) -> dict[str, Any]:
        """What `from_dict` reads."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Self:
        """The state that was saved, also by versions that kept only the forward translator's best score."""
        saved = dict(saved)
        if "best_score" in saved:
            best = saved.pop("best_score")
            saved["best_scores"] = {} if best is None else {"forward": best}
        return cls(**saved)
