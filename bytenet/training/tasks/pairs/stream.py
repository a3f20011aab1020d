"""The batches of a run in their order, without their text."""

from abc import ABC, abstractmethod

import numpy as np

from bytenet.datasets import BatchPlan, PlannedBatch
from bytenet.datasets.batches.epoch_shapes import EpochShapes
from bytenet.datasets.shards.plan import GroupBatches, ShardPlan, ShardVisit


class Stream(ABC):
    """Endless batches of the pairs or of a monolingual text, in the order of a run.

    Attributes:
        plan: of the batches.
    """

    plan: EpochShapes

    @abstractmethod
    def batch_at(self, step: int) -> PlannedBatch:
        """The batch after `step` others."""

    @abstractmethod
    def target_chars_at(self, step: int) -> int:
        """Number of real target characters in the batch after `step` others, end symbols counted; only for pairs."""


class MemoryStream(Stream):
    """Batches of text in memory.

    Args:
        plan: of the batches.
        seed: of their order.
        target_lengths: int `(pairs,)`, target characters of each pair with the end symbol; None for monolingual text.
    """

    plan: BatchPlan

    def __init__(self, plan: BatchPlan, seed: int, target_lengths: np.ndarray | None = None):
        self.plan = plan
        self._seed = seed
        self._target_lengths = target_lengths
        self._epoch: int | None = None
        self._batches: list[PlannedBatch] = []

    def batch_at(self, step: int) -> PlannedBatch:
        epoch, batch = divmod(step, self.plan.num_batches)
        if epoch != self._epoch:
            self._epoch, self._batches = epoch, self.plan.epoch(self._seed, epoch)
        return self._batches[batch]

    def target_chars_at(self, step: int) -> int:
        assert self._target_lengths is not None
        return _sum_of_real(self._target_lengths, self.batch_at(step).indices)


class ShardStream(Stream):
    """Batches of pairs in shards. It reads the lengths of one group of shards at a time.

    Args:
        plan: of the batches.
        seed: of their order.
        target_side: 1 if the second side of the shards is the target, 0 if it is the first.
    """

    plan: ShardPlan

    def __init__(self, plan: ShardPlan, seed: int, target_side: int):
        self.plan = plan
        self._seed = seed
        self._target_side = target_side
        self._place: tuple[int, int] | None = None  # epoch and group
        self._group: GroupBatches
        self._step = -1
        self._visit: ShardVisit

    def batch_at(self, step: int) -> PlannedBatch:
        if step != self._step:
            self._step = step
            self._visit = next(self.plan.visits(self._seed, *divmod(step, self.plan.num_batches)))
        place = self._visit.epoch, self._visit.group
        if place != self._place:
            self._place, self._group = place, self.plan.group_batches(self._seed, *place)
        return self._group.batches[self._visit.first_batch]

    def target_chars_at(self, step: int) -> int:
        indices = self.batch_at(step).indices
        return _sum_of_real(self._group.lengths[:, self._target_side], indices)


def _sum_of_real(lengths: np.ndarray, indices: np.ndarray) -> int:
    return int(lengths[indices[indices >= 0]].sum())
