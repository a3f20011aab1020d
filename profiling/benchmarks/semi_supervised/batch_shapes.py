"""The shapes of a run's batches, each with one of the batches."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bytenet.datasets.batches.epoch_shapes import EpochShapes


@dataclass(frozen=True)
class BatchShape:
    """A shape of the batches of a stream.

    Attributes:
        rows, length: the shape.
        share: share of the stream's batches with this shape.
        batch: one of these batches, a nest of tensors.
    """

    rows: int
    length: int
    share: float
    batch: Any


def one_batch_of_every_shape(dataset: Iterable[Any], plans: Mapping[str, EpochShapes]) -> dict[str, list[BatchShape]]:
    """By stream, its shapes from short to long, each with one batch of an epoch.

    Args:
        dataset: the batches of a run, each a dict by stream.
        plans: by stream, the plan of its batches.
    """
    batches: dict[str, dict[tuple[int, int], Any]] = {name: {} for name in plans}
    for batch in dataset:
        for name, by_shape in batches.items():
            ids = batch["pairs"]["source_ids"] if name == "pairs" else batch[name][0]
            by_shape.setdefault(tuple(ids.shape), batch[name])
        if all(len(batches[name]) == len(plan.shapes) for name, plan in plans.items()):
            break
    return {
        name: [
            BatchShape(rows, length, count / plan.num_batches, batches[name][rows, length])
            for (rows, length), count in plan.shapes.items()
        ]
        for name, plan in plans.items()
    }
