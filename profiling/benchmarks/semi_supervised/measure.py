"""What a semi-supervised training step costs beside one on pairs only, and what its parts take."""

import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import product
from math import prod
from typing import Any, Literal

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import BatchPlan
from bytenet.errors import InputError
from bytenet.profiling.benchmarks.measurement import Spread, calls_a_turn
from bytenet.profiling.benchmarks.training import StepTimes
from bytenet.training.checkpoints import training_variables
from bytenet.training.tasks import SemiSupervisedTask
from bytenet.training.tasks.starts import load_starts
from bytenet.training.tasks.trainable_pair import make_trainable_pair, pair_of
from bytenet.training.tasks.translator_pair import TranslatorPair

THESIS_BEAM_SIZE = 5
"""Hypotheses in the thesis's search (Madsen 2017, section 3.6)."""
THESIS_TIMES_PAIRS_ONLY = (5.4, 5.7)
"""Time of a training with monolingual text over that of one on pairs only: least and most in the thesis.

Source: the author's data behind Madsen 2017, figure 3.6.2. Least and most are over the numbers of pairs and texts.
"""

PARTS = ("pairs", "search", "text", "rest")
"""Of a step, in their order."""

PartName = Literal["pairs", "text and search", "search"]

_THREADS = "TF_NUM_INTRAOP_THREADS"
_MOST_STEPS_A_TURN = 50
_SHARE_OF_TURN = 0.25  # for one part and shape, of the time that a turn of whole steps takes


@dataclass(frozen=True)
class SemiSupervisedCost:
    """What a training step of two translators costs, in seconds: the mean over a run's batches, spread over the turns.

    Attributes:
        case: its name.
        beam_size: hypotheses of the search; None for a step on pairs only.
        xla: whether XLA compiles the parts of a step.
        threads: that share an operation, where TF_NUM_INTRAOP_THREADS says; None is TensorFlow's choice, all cores.
        seconds: a step, as `fit` makes it.
        turns: the seconds of a step in each turn, in order; those of one number are next to each other in time.
        steps_a_turn: number of them.
        parts: seconds by name of the part, each measured by itself: "pairs" (both translators' gradients and update),
            "search", "text" (probabilities and gradients of what was found: the part with the search less the search
            alone), and "rest", what the whole step takes beyond them. A step on pairs only has no search and no text.
        times_pairs_only: the step's time over that of one on pairs only, turn by turn.
        thesis_times: least and most of the same in the thesis, for a step as there: the marginal with its beam size,
            both translators trained; otherwise None.
        compile_seconds: by how much the first calls of all parts with all shapes took longer than later ones.
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
        part: "pairs"; "text and search", as a step does both; or "search", the same once more by itself.
        beam_size: of the search; None where there is none.
        side: "source" or "target" text; None for pairs.
        rows, length: of the batch.
        share: of the batches that have this shape.
        seconds: a call, spread over the turns.
        compile_seconds: by how much the first call, with tracing and compiling, took longer than the median one.
    """

    part: PartName
    beam_size: int | None
    side: str | None
    rows: int
    length: int
    share: float
    seconds: Spread
    compile_seconds: float


@dataclass(frozen=True)
class _Shape:
    """A shape of the batches of a stream: how many of them have it, and one of those."""

    rows: int
    length: int
    share: float
    batch: Any


@dataclass
class _Case:
    """Whole steps of one kind, over every combination of the shapes of its streams, and what was measured so far."""

    beam_size: int | None
    pair: TranslatorPair
    streams: Mapping[str, Sequence[_Shape]]
    rounds: int = 1
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self):
        # The streams do not know of each other, so the combinations are as frequent as the product says.
        combinations = [dict(zip(self.streams, shapes, strict=True)) for shapes in product(*self.streams.values())]
        self._shares = np.array([prod(shape.share for shape in shapes.values()) for shapes in combinations])
        batches = [
            tf.data.Dataset.from_tensors({name: shape.batch for name, shape in shapes.items()})
            for shapes in combinations
        ]
        self._dataset = reduce(tf.data.Dataset.concatenate, batches).repeat().prefetch(tf.data.AUTOTUNE)

    @property
    def steps_a_turn(self) -> int:
        return self.rounds * len(self._shares)

    def run(self) -> float:
        """Train on every combination so many rounds with `fit`, and give the seconds of a mean step."""
        times = StepTimes()
        self.pair.fit(
            self._dataset, steps_per_epoch=self.steps_a_turn, shuffle=False, verbose=0, callbacks=[times]
        )  # fmt: skip
        return float(np.reshape(times.seconds, (self.rounds, -1)).mean(axis=0) @ self._shares)

    def warm_up(self, seconds_a_turn: float) -> None:
        """Train the first steps, and settle how many make a turn."""
        self.run()
        self.run()  # in which libraries still choose their ways
        combinations = len(self._shares)
        self.rounds = calls_a_turn(seconds_a_turn, self.run() * combinations, -(-_MOST_STEPS_A_TURN // combinations))


@dataclass
class _Part:
    """A part of a step with one shape of batches, and what was measured so far."""

    name: PartName
    call: Callable[[], Any]
    shape: _Shape
    beam_size: int | None = None
    side: str | None = None
    calls: int = 1
    first_seconds: float = 0.0
    seconds: list[float] = field(default_factory=list)

    def run(self) -> float:
        """Call it so many times and give the seconds of one."""
        began = time.perf_counter()
        for _ in range(self.calls):
            # A value that is read is a value that is there.
            tf.nest.flatten(self.call())[0].numpy()
        return (time.perf_counter() - began) / self.calls

    def warm_up(self, seconds_a_turn: float) -> None:
        """Make the first calls, and settle how many make a turn."""
        self.first_seconds = self.run()
        self.run()
        self.calls = calls_a_turn(_SHARE_OF_TURN * seconds_a_turn, self.run())

    def cost(self) -> PartCost:
        return PartCost(
            part=self.name,
            beam_size=self.beam_size,
            side=self.side,
            rows=self.shape.rows,
            length=self.shape.length,
            share=self.shape.share,
            seconds=Spread.of(self.seconds),
            compile_seconds=self.compile_seconds,
        )

    @property
    def compile_seconds(self) -> float:
        return max(0.0, self.first_seconds - statistics.median(self.seconds))


def measure_semi_supervised(
    config: Config,
    beam_sizes: Sequence[int] = (),
    repeats: int = 5,
    seconds_a_turn: float = 2.0,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[list[SemiSupervisedCost], list[PartCost]]:
    """Time steps on pairs and monolingual text, steps on pairs only, and their parts, on the batches of a real run.

    The two translators are made once, as `train` makes them, and all steps are theirs. For each shape of batches there
    is one of the run's own; what is told of a step is the mean over all combinations of shapes, each counted as often
    as it comes in a run. Whole steps and parts take turns, so that a machine that slows down for a while slows all of
    them. Every turn begins with the first weights (those of `semi_supervised.start_forward` and `start_backward`, if
    set), so that every search finds the same; without training it goes on as long as it may, which costs the most.

    Args:
        config: of a run; its corpus has to be there, with monolingual text.
        beam_sizes: to measure; none is the one that is set.
        repeats: turns of each.
        seconds_a_turn: about how long a turn of whole steps takes, at least one of every combination.
        say: told what is going on.

    Returns:
        The cost of a step on pairs only, which trains the same translators, then of one for each beam size; and those
        of the parts by shape.

    Raises:
        InputError: there is no monolingual text, or several devices are to share each batch.
    """
    semi = replace(config.semi_supervised, enabled=True)
    sizes = list(dict.fromkeys(beam_sizes or [semi.beam_size]))
    compiled, pairs_only, by_size, streams = _translators_and_batches(replace(config, semi_supervised=semi), sizes)
    for name, shapes in streams.items():
        say(f"{name}: " + ", ".join(f"{one.rows} x {one.length} ({one.share:.0%} of the batches)" for one in shapes))
    cases = [_Case(None, pairs_only, {"pairs": streams["pairs"]})]
    cases += [_Case(size, pair, streams) for size, pair in by_size.items()]
    parts = _parts_of_pairs(pairs_only, streams["pairs"])
    for size, pair in by_size.items():
        text_streams = {name: shapes for name, shapes in streams.items() if name != "pairs"}
        parts += _parts_of_text(pair, size, text_streams, compiled)
    _measure(pairs_only, cases, parts, repeats, seconds_a_turn, say)
    return [_step_cost(case, cases[0], parts, compiled) for case in cases], [part.cost() for part in parts]


def _translators_and_batches(
    config: Config, beam_sizes: Sequence[int]
) -> tuple[bool, TranslatorPair, dict[int, TranslatorPair], dict[str, list[_Shape]]]:
    """Whether XLA compiles; pairs of the same translators, for pairs only and for each beam size; batches by stream."""
    task = SemiSupervisedTask(config)
    if task.replicas > 1:
        raise InputError(
            f"{task.replicas} devices would share each batch, but semi-supervised steps are measured on one. Name it: "
            '--set "training.devices=[GPU:0]".'
        )
    if not task.texts:
        raise InputError(
            "There is no monolingual text to measure with. Give some: data.monolingual_source, "
            "data.monolingual_target, or data.num_monolingual of a generated corpus; and a weight above 0: "
            "semi_supervised.source_weight, target_weight; with objective back_translation, of text that teaches what "
            "is trained."
        )
    how = (task.vocabulary, task.strategy, task.jit_compile)
    pairs_only = make_trainable_pair(config, *how, task.total_steps, sides=())
    load_starts(pairs_only.translators, config, task.vocabulary)
    search_lengths = {text.side: text.search_lengths for text in task.texts}
    by_size = {}
    for size in beam_sizes:
        of_size = replace(config, semi_supervised=replace(config.semi_supervised, beam_size=size))
        by_size[size] = pair_of(pairs_only.translators, of_size, *how, tuple(search_lengths))
        by_size[size].set_texts(config.semi_supervised, search_lengths)
    return (
        task.jit_compile,
        pairs_only,
        by_size,
        _one_batch_of_every_shape(task.dataset(), {name: stream.plan for name, stream in task.streams.items()}),
    )


def _one_batch_of_every_shape(dataset: Iterable, plans: Mapping[str, BatchPlan]) -> dict[str, list[_Shape]]:
    """By stream, its shapes from short to long; each is among the batches of an epoch."""
    found: dict[str, dict[tuple[int, int], Any]] = {name: {} for name in plans}
    for batch in dataset:
        for name, by_shape in found.items():
            ids = batch["pairs"]["source_ids"] if name == "pairs" else batch[name][0]
            by_shape.setdefault(tuple(ids.shape), batch[name])
        if all(len(found[name]) == len(plan.shapes) for name, plan in plans.items()):
            break
    return {
        name: [
            _Shape(rows, length, batches / plan.num_batches, found[name][rows, length])
            for (rows, length), batches in plan.shapes.items()
        ]
        for name, plan in plans.items()
    }


def _parts_of_pairs(pair: TranslatorPair, shapes: Sequence[_Shape]) -> list[_Part]:
    """What every step has: gradients on the pairs, for every shape, and the update by them."""
    learn = _called_as_in_a_step(pair, pair.pairs_part)
    return [_Part("pairs", partial(learn, shape.batch, {}, {}), shape) for shape in shapes]


def _parts_of_text(
    pair: TranslatorPair, beam_size: int, streams: Mapping[str, Sequence[_Shape]], jit_compile: bool
) -> list[_Part]:
    """What text adds to a step, as it is done there; and the search alone, for every shape of either side."""

    search = tf.function(pair.search, jit_compile=jit_compile or None, autograph=False)
    of_text, searched = _called_as_in_a_step(pair, pair.text_part), _called_as_in_a_step(pair, search)
    parts = []
    for side, shapes in streams.items():
        for shape in shapes:
            ids, _ = shape.batch
            limit = pair.search_lengths[side][shape.length]
            parts.append(_Part("text and search", partial(of_text, shape.batch, side, limit), shape, beam_size, side))
            parts.append(_Part("search", partial(searched, side, ids, limit), shape, beam_size, side))
    return parts


def _called_as_in_a_step(pair: TranslatorPair, part: Callable) -> Callable:
    """A part of a step by itself, called on the one replica, as a step calls it."""
    strategy = pair.distribute_strategy
    return lambda *arguments: strategy.run(part, args=arguments)


def _measure(
    pair: TranslatorPair,
    cases: Sequence[_Case],
    parts: Sequence[_Part],
    repeats: int,
    seconds_a_turn: float,
    say: Callable[[str], None],
) -> None:
    """Warm everything up and let it take turns, always from the same weights."""
    variables = training_variables(pair)
    first_values = {name: keras.ops.convert_to_numpy(variable) for name, variable in variables.items()}

    def go_back() -> None:
        for name, variable in variables.items():
            variable.assign(first_values[name])

    for part in parts:  # before the steps that consist of them, so that each is compiled by itself
        part.warm_up(seconds_a_turn)
        say(f"{_described(part)}: {part.first_seconds:.1f} seconds to the end of the first call")
    for case in cases:
        say(f"{_name(case.beam_size)}: first steps ...")
        case.warm_up(seconds_a_turn)
    for turn in range(repeats):
        say(f"turn {turn + 1} of {repeats} ...")
        for one in (*cases, *parts):
            go_back()
            one.seconds.append(one.run())


def _described(part: _Part) -> str:
    name = part.name if part.beam_size is None else f"{part.name}, beam {part.beam_size}, {part.side}"
    return f"{name}, {part.shape.rows} x {part.shape.length}"


def _name(beam_size: int | None) -> str:
    return "pairs only" if beam_size is None else f"beam {beam_size}"


def _described_case(case: _Case) -> str:
    words, settings = [_name(case.beam_size)], case.pair.settings
    if case.beam_size is not None and settings.objective == "back_translation":
        words.append("back-translation")
    if settings.trained != "both":
        words.append(f"only {settings.trained} trained")
    return ", ".join(words)


def _is_the_thesiss(case: _Case) -> bool:
    settings = case.pair.settings
    return case.beam_size == THESIS_BEAM_SIZE and settings.objective == "marginal" and settings.trained == "both"


def _step_cost(case: _Case, pairs_only: _Case, parts: Sequence[_Part], compiled: bool) -> SemiSupervisedCost:
    its_parts = [part for part in parts if part.beam_size in (None, case.beam_size)]
    # A step takes so long for each part in every turn: for text, that of both sides.
    seconds: dict[str, np.ndarray] = {}
    for part in its_parts:
        seconds[part.name] = seconds.get(part.name, 0.0) + part.shape.share * np.array(part.seconds)
    if "search" in seconds:
        seconds["text"] = seconds.pop("text and search") - seconds["search"]
    seconds["rest"] = np.array(case.seconds) - sum(seconds.values())
    threads = os.environ.get(_THREADS, "")
    return SemiSupervisedCost(
        case=f"{_described_case(case)}, {'XLA' if compiled else 'no XLA'}",
        beam_size=case.beam_size,
        xla=compiled,
        threads=int(threads) if threads.isdigit() else None,
        seconds=Spread.of(case.seconds),
        turns=case.seconds,
        steps_a_turn=case.steps_a_turn,
        parts={name: Spread.of(seconds[name].tolist()) for name in PARTS if name in seconds},
        times_pairs_only=Spread.of(
            [mine / theirs for mine, theirs in zip(case.seconds, pairs_only.seconds, strict=True)]
        ),
        thesis_times=THESIS_TIMES_PAIRS_ONLY if _is_the_thesiss(case) else None,
        compile_seconds=sum(part.compile_seconds for part in its_parts if part.name != "search"),
    )
