"""Which steps of a training have settled: their batch shapes have come up before, so nothing is traced or compiled."""

import statistics
from collections.abc import Sequence

from bytenet.training.tasks import Task

Shapes = tuple[tuple[int, int], ...]
"""Rows and padded length of a step's batches: of the pairs, and of each monolingual text."""

_LEAST_WARM_UP = 5
_STEPS = 5
_COMPILED_STEPS = 3  # fewer, since every shape among them has to be compiled before
_MOST_CONSIDERED = 200


def shapes_of_steps(task: Task, least: int = _MOST_CONSIDERED) -> list[Shapes]:
    """The batch shapes of the first steps of a training.

    Args:
        task: the training.
        least: number of steps.

    Returns:
        The shapes of `least` steps or more, since epochs are whole; of all steps if the training has fewer.
    """
    num_batches = task.plan.num_batches
    epochs = min(task.config.training.epochs, -(-least // num_batches))
    streams = task.streams.values()
    steps = ([stream.batch_at(step) for stream in streams] for step in range(epochs * num_batches))
    return [tuple((len(batch.indices), batch.length) for batch in batches) for batches in steps]


def first_settled_steps(shapes: Sequence[Shapes], compiled: bool) -> tuple[int, int]:
    """The earliest steps after a warm-up whose shapes have all come up before.

    Args:
        shapes: of the training's steps.
        compiled: whether XLA compiles the steps.

    Returns:
        First and last step, counted from 1. If there are no such steps, the steps right after the warm-up.
    """
    count = _COMPILED_STEPS if compiled else _STEPS
    for first in range(_LEAST_WARM_UP, len(shapes) - count + 1):
        if set(shapes[first : first + count]) <= set(shapes[:first]):
            return first + 1, first + count
    return _LEAST_WARM_UP + 1, _LEAST_WARM_UP + count


def settled_seconds(shapes: Sequence[Shapes], seconds: Sequence[float], captured: Sequence[Shapes]) -> float | None:
    """How long the captured steps would take on average without the profiler.

    It is the mean over the captured steps of the median of the earlier steps with the same shapes.

    Args:
        shapes, seconds: of the steps before the capture. The first step of each shape sets up for it and is left out.
        captured: shapes of the captured steps.

    Returns:
        Seconds; None if a shape among `captured` had not settled before.
    """
    settled: dict[Shapes, list[float]] = {}
    for index, (shape, step_seconds) in enumerate(zip(shapes, seconds, strict=True)):
        if shape in shapes[:index]:
            settled.setdefault(shape, []).append(step_seconds)
    if not set(captured) <= set(settled):
        return None
    return statistics.fmean(statistics.median(settled[shape]) for shape in captured)
