"""The costs of steps and of their parts, computed from the times of the turns."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bytenet.profiling.benchmarks.measurement import Spread
from bytenet.profiling.benchmarks.semi_supervised.timed_calls import PartName, StepPart, WholeSteps, name_of_steps
from bytenet.training.tasks.direction import Side

THESIS_BEAM_SIZE = 5
"""Hypotheses of the thesis's search (Madsen 2017, section 3.6)."""
THESIS_TIMES_PAIRS_ONLY = (5.4, 5.7)
"""Time of a training with monolingual text over that of one on pairs only: least and most in the thesis.

Source: the author's data behind Madsen 2017, figure 3.6.2. Least and most are over the numbers of pairs and texts.
"""

PARTS = ("pairs", "search", "text", "rest")
"""The parts of a step, in their order."""

_THREADS = "TF_NUM_INTRAOP_THREADS"


@dataclass(frozen=True)
class SemiSupervisedCost:
    """What a training step of two translators costs, in seconds.

    A step is the mean over the batches of a run. Spreads are over the turns.

    Attributes:
        case: name of the case.
        beam_size: hypotheses of the search; None for a step on pairs only.
        xla: whether XLA compiles the parts of a step.
        threads: threads that share an operation, if TF_NUM_INTRAOP_THREADS is set. None is TensorFlow's choice: all
            cores.
        seconds: a step, made by `fit`.
        turns: seconds of a step in each turn, in order. Turns of the same number are next to each other in time.
        steps_a_turn: number of steps.
        parts: seconds by name of the part, each measured by itself. "pairs": gradients and update of both translators.
            "search": the search. "text": probabilities and gradients of the translations found, which is the part
            with the search minus the search alone. "rest": the whole step minus the other parts. A step on pairs only
            has no "search" and no "text".
        times_pairs_only: time of the step over that of a step on pairs only, turn by turn.
        thesis_times: least and most of this ratio in the thesis, if the step is like the thesis's: the marginal with
            its beam size, both translators trained. Otherwise None.
        compile_seconds: sum over all parts and shapes: time of the first call minus the time of later calls.
    """

    case: str
    beam_size: int | None
    xla: bool
    threads: int | None
    seconds: Spread
    turns: list[float]
    steps_a_turn: int
    parts: dict[str, Spread]
    times_pairs_only: Spread
    thesis_times: tuple[float, float] | None
    compile_seconds: float


@dataclass(frozen=True)
class PartCost:
    """What a part of a step costs for one shape of batches.

    Attributes:
        part: "pairs"; "text and search", which a step does together; or "search", the search once more by itself.
        beam_size: hypotheses of the search; None if there is no search.
        side: "source" or "target" text; None for pairs.
        rows, length: shape of the batch.
        share: share of the batches that have this shape.
        seconds: a call. The spread is over the turns.
        compile_seconds: time of the first call, with tracing and compiling, minus the median time.
    """

    part: PartName
    beam_size: int | None
    side: Side | None
    rows: int
    length: int
    share: float
    seconds: Spread
    compile_seconds: float


def part_cost(part: StepPart) -> PartCost:
    """The cost of a part for its shape."""
    return PartCost(
        part=part.name,
        beam_size=part.beam_size,
        side=part.side,
        rows=part.shape.rows,
        length=part.shape.length,
        share=part.shape.share,
        seconds=Spread.of(part.seconds),
        compile_seconds=part.compile_seconds,
    )


def step_cost(
    steps: WholeSteps, pairs_only: WholeSteps, parts: Sequence[StepPart], compiled: bool
) -> SemiSupervisedCost:
    """The cost of a step.

    Args:
        steps: the steps, with their times.
        pairs_only: the steps on pairs only of the same benchmark.
        parts: all parts of the benchmark. Those of other beam sizes are left out.
        compiled: whether XLA compiled them.
    """
    own_parts = [part for part in parts if part.beam_size in (None, steps.beam_size)]
    # Seconds of each part in every turn. The parts of both sides' text add up.
    seconds: dict[str, np.ndarray] = {}
    for part in own_parts:
        seconds[part.name] = seconds.get(part.name, 0.0) + part.shape.share * np.array(part.seconds)
    if "search" in seconds:
        seconds["text"] = seconds.pop("text and search") - seconds["search"]
    seconds["rest"] = np.array(steps.seconds) - sum(seconds.values())
    threads = os.environ.get(_THREADS, "")
    return SemiSupervisedCost(
        case=f"{_description(steps)}, {'XLA' if compiled else 'no XLA'}",
        beam_size=steps.beam_size,
        xla=compiled,
        threads=int(threads) if threads.isdigit() else None,
        seconds=Spread.of(steps.seconds),
        turns=steps.seconds,
        steps_a_turn=steps.steps_a_turn,
        parts={name: Spread.of(seconds[name].tolist()) for name in PARTS if name in seconds},
        times_pairs_only=Spread.of([own / other for own, other in zip(steps.seconds, pairs_only.seconds, strict=True)]),
        thesis_times=THESIS_TIMES_PAIRS_ONLY if _is_like_the_thesis(steps) else None,
        compile_seconds=sum(part.compile_seconds for part in own_parts if part.name != "search"),
    )


def _description(steps: WholeSteps) -> str:
    words, settings = [name_of_steps(steps.beam_size)], steps.pair.settings
    if steps.beam_size is not None and settings.objective == "back_translation":
        words.append("back-translation")
    if settings.trained != "both":
        words.append(f"only {settings.trained} trained")
    return ", ".join(words)


def _is_like_the_thesis(steps: WholeSteps) -> bool:
    settings = steps.pair.settings
    return steps.beam_size == THESIS_BEAM_SIZE and settings.objective == "marginal" and settings.trained == "both"
