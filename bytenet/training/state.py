"""Where a run stands, apart from its tensors."""

from dataclasses import asdict, dataclass


@dataclass
class TrainingState:
    """The place of a run in its data, and what it has found so far; saved with every checkpoint.

    Attributes:
        epoch: epochs completed.
        batch: batches completed in the epoch begun.
        step: batches completed since the start.
        best_score: best value of the early-stopping metric so far; None before the first evaluation.
        best_epoch: epochs completed when it was found.
        seconds: time spent training, earlier processes included.
        characters: real target characters trained on.
        data: fingerprint of the training pairs and of their batches, which a resumed run must find again.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    best_score: float | None = None
    best_epoch: int = 0
    seconds: float = 0.0
    characters: int = 0
    data: str = ""

    def to_dict(self) -> dict:
        return asdict(self)
