"""What is timed: whole steps by `fit`, and the parts of a step by themselves."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np
import tensorflow as tf

from bytenet.datasets.batches.gathering import untuned
from bytenet.datasets.batches.pipeline import PREFETCHED_BATCHES
from bytenet.profiling.benchmarks.measurement import calls_a_turn
from bytenet.profiling.benchmarks.semi_supervised.batch_shapes import BatchShape
from bytenet.profiling.benchmarks.step_times import StepTimes
from bytenet.training.tasks.direction import Side
from bytenet.training.tasks.translator_pair import TranslatorPair

PartName = Literal["pairs", "text and search", "search"]

_MOST_STEPS_A_TURN = 50
_SHARE_OF_TURN = 0.25  # time for one part and shape, over the time of a turn of whole steps


def name_of_steps(beam_size: int | None) -> str:
    """A short name of steps with a search, or without one."""
    return "pairs only" if beam_size is None else f"beam {beam_size}"


@dataclass
class WholeSteps:
    """Whole steps of one kind, over every combination of the shapes of its streams, and their times so far.

    Attributes:
        beam_size: hypotheses of the search; None for steps on pairs only.
        pair: the two translators.
        streams: by name of the stream, its shapes.
        rounds: how often a turn goes through all combinations.
        seconds: of a mean step, in each turn.
    """

    beam_size: int | None
    pair: TranslatorPair
    streams: Mapping[str, Sequence[BatchShape]]
    rounds: int = 1
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        # The streams are independent, so the share of a combination is a product.
        combinations = [dict(zip(self.streams, shapes, strict=True)) for shapes in product(*self.streams.values())]
        self._shares = np.array([prod(shape.share for shape in shapes.values()) for shapes in combinations])
        batches = [
            tf.data.Dataset.from_tensors({name: shape.batch for name, shape in shapes.items()})
            for shapes in combinations
        ]
        self._dataset = untuned(reduce(tf.data.Dataset.concatenate, batches).repeat().prefetch(PREFETCHED_BATCHES))

    @property
    def steps_a_turn(self) -> int:
        """Number of steps in a turn."""
        return self.rounds * len(self._shares)

    def run(self) -> float:
        """Train on every combination with `fit`, as often as a turn says, and return the seconds of a mean step."""
        times = StepTimes()
        self.pair.fit(self._dataset, steps_per_epoch=self.steps_a_turn, shuffle=False, verbose=0, callbacks=[times])
        return float(np.reshape(times.seconds, (self.rounds, -1)).mean(axis=0) @ self._shares)

    def warm_up(self, seconds_a_turn: float) -> None:
        """Train the first steps, and choose the number of steps a turn."""
        self.run()
        self.run()  # libraries still choose their algorithms in these steps
        combinations = len(self._shares)
        self.rounds = calls_a_turn(seconds_a_turn, self.run() * combinations, -(-_MOST_STEPS_A_TURN // combinations))


@dataclass
class StepPart:
    """A part of a step with one shape of batches, and its times so far.

    Attributes:
        name: name of the part.
        call: a function that does the part's work.
        shape: the shape.
        beam_size: hypotheses of the search; None if there is no search.
        side: "source" or "target" text; None for pairs.
        calls: number of calls a turn.
        first_seconds: seconds of the first call, with tracing and compiling.
        seconds: seconds a call in each turn.
    """

    name: PartName
    call: Callable[[], Any]
    shape: BatchShape
    beam_size: int | None = None
    side: Side | None = None
    calls: int = 1
    first_seconds: float = 0.0
    seconds: list[float] = field(default_factory=list)

    def run(self) -> float:
        """Make the calls of a turn, and return the seconds a call."""
        began = time.perf_counter()
        for _ in range(self.calls):
            # Reading a value waits for it.
            tf.nest.flatten(self.call())[0].numpy()
        return (time.perf_counter() - began) / self.calls

    def warm_up(self, seconds_a_turn: float) -> None:
        """Make the first calls, and choose the number of calls a turn."""
        self.first_seconds = self.run()
        self.run()
        self.calls = calls_a_turn(_SHARE_OF_TURN * seconds_a_turn, self.run())

    @property
    def compile_seconds(self) -> float:
        """Time of the first call, with tracing and compiling, minus the median time."""
        return max(0.0, self.first_seconds - statistics.median(self.seconds))

    @property
    def description(self) -> str:
        """The part and its shape, in a few words."""
        name = self.name if self.beam_size is None else f"{self.name}, beam {self.beam_size}, {self.side}"
        return f"{name}, {self.shape.rows} x {self.shape.length}"
