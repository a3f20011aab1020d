"""The batches of a run in their order."""

from bytenet.datasets import BatchPlan, PlannedBatch


class Stream:
    """Endless batches of the pairs or of a monolingual text, in the order of a run.

    Args:
        plan: of the batches.
        seed: of their order.

    Attributes:
        plan: as given.
    """

    def __init__(self, plan: BatchPlan, seed: int):
        self.plan = plan
        self._seed = seed
        self._epoch: int | None = None
        self._batches: list[PlannedBatch] = []

    def batch_at(self, step: int) -> PlannedBatch:
        """The batch after `step` others."""
        epoch, batch = divmod(step, self.plan.num_batches)
        if epoch != self._epoch:
            self._epoch, self._batches = epoch, self.plan.epoch(self._seed, epoch)
        return self._batches[batch]
