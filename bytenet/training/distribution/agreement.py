"""What all workers must know at the same step: whether to stop, and when the latest checkpoint was saved."""

import time
from collections.abc import Sequence

from bytenet.training.distribution.workers import Workers


class Agreement:
    """Stop requests and the age of the latest checkpoint, the same on all workers.

    A signal may reach one worker alone, and clocks differ. So each worker sends what it knows with the measurements of
    a step, and all act upon the same sums after the step. A process that trains alone acts upon what it knows at once.

    Args:
        workers: of the run.
    """

    def __init__(self, workers: Workers):
        self._workers = workers
        self._saved_at = time.monotonic()
        self._agreed: Sequence[float] | None = None
        self.is_asked_here = False

    def ask_to_stop(self) -> None:
        """Ask all workers to stop."""
        self.is_asked_here = True

    def note_checkpoint(self) -> None:
        """Note that a checkpoint was saved now."""
        self._saved_at = time.monotonic()
        self._agreed = None if self._agreed is None else (self._agreed[0], 0.0)

    @property
    def local_values(self) -> tuple[float, float]:
        """What this worker knows: the number of its requests to stop, and the age of the chief's latest checkpoint."""
        return float(self.is_asked_here), time.monotonic() - self._saved_at if self._workers.is_chief else 0.0

    def agree(self, sums: Sequence[float]) -> None:
        """Take the sums of all workers' `local_values`, as they were before a step."""
        if self._workers.count > 1:
            self._agreed = sums

    @property
    def is_asked_to_stop(self) -> bool:
        """Whether any worker was asked to stop."""
        return self._known[0] > 0

    @property
    def seconds_since_checkpoint(self) -> float:
        """Age of the latest checkpoint."""
        return self._known[1]

    @property
    def _known(self) -> Sequence[float]:
        if self._workers.count == 1:
            return self.local_values
        return self._agreed or (0.0, 0.0)  # nothing is known before the first step
