"""Times semi-supervised steps, steps on pairs only, and their parts, in turns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import keras
import tensorflow as tf

from bytenet.config import Config
from bytenet.errors import InputError
from bytenet.profiling.benchmarks.semi_supervised.batch_shapes import BatchShape, one_batch_of_every_shape
from bytenet.profiling.benchmarks.semi_supervised.costs import PartCost, SemiSupervisedCost, part_cost, step_cost
from bytenet.profiling.benchmarks.semi_supervised.timed_calls import StepPart, WholeSteps, name_of_steps
from bytenet.training.checkpoints import training_variables
from bytenet.training.starts import take_over_start
from bytenet.training.tasks import SemiSupervisedTask
from bytenet.training.tasks.direction import Side
from bytenet.training.tasks.trainable_pair import make_trainable_pair, pair_of
from bytenet.training.tasks.translator_pair import TranslatorPair


def measure_semi_supervised(
    config: Config,
    beam_sizes: Sequence[int] = (),
    repeats: int = 5,
    seconds_a_turn: float = 2.0,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[list[SemiSupervisedCost], list[PartCost]]:
    """Time steps on pairs and monolingual text, steps on pairs only, and their parts, on the batches of a real run.

    The two translators are made once, like those of `train`, and all steps use them. For each shape of batches, one
    batch of the run is used. The cost of a step is the mean over all combinations of shapes, weighted by their
    frequency in a run. Whole steps and parts take turns, so that a slow minute of the machine slows down all of them.

    Every turn begins with the initial weights, so that every search finds the same translations. These are those of
    `semi_supervised.start_forward` and `start_backward` if they are set. Otherwise the model is untrained, and its
    searches take the most steps they can.

    Args:
        config: a run whose corpus is available and has monolingual text.
        beam_sizes: beam sizes to measure; none measures `semi_supervised.beam_size`.
        repeats: turns of each measurement.
        seconds_a_turn: approximate length of a turn of whole steps. A turn has at least one step of every combination.
        say: called with messages on the progress.

    Returns:
        The cost of a step on pairs only, which trains the same translators, and of a step for each beam size; and the
        costs of the parts by shape.

    Raises:
        InputError: there is no monolingual text, or several devices are to share each batch.
    """
    semi = replace(config.semi_supervised, enabled=True)
    sizes = list(dict.fromkeys(beam_sizes or [semi.beam_size]))
    compiled, pairs_only, by_size, streams = _translators_and_batches(replace(config, semi_supervised=semi), sizes)
    for name, shapes in streams.items():
        say(
            f"{name}: "
            + ", ".join(f"{shape.rows} x {shape.length} ({shape.share:.0%} of the batches)" for shape in shapes)
        )
    steps = [WholeSteps(None, pairs_only, {"pairs": streams["pairs"]})]
    steps += [WholeSteps(size, pair, streams) for size, pair in by_size.items()]
    parts = _parts_of_pairs(pairs_only, streams["pairs"])
    for size, pair in by_size.items():
        shapes_of_texts = {side: streams[side] for side in pair.search_lengths}
        parts += _parts_of_text(pair, size, shapes_of_texts, compiled)
    _measure(pairs_only, steps, parts, repeats, seconds_a_turn, say)
    return [step_cost(whole, steps[0], parts, compiled) for whole in steps], [part_cost(part) for part in parts]


def _translators_and_batches(
    config: Config, beam_sizes: Sequence[int]
) -> tuple[bool, TranslatorPair, dict[int, TranslatorPair], dict[str, list[BatchShape]]]:
    """The translators and the batches of a run.

    Returns:
        Whether XLA compiles the steps; the translators for pairs only; the same translators by beam size; the shapes of
        the batches by stream.
    """
    config, vocabulary = take_over_start(config)
    task = SemiSupervisedTask(config, vocabulary)
    if task.replicas > 1:
        raise InputError(
            f"{task.replicas} devices would share each batch, but semi-supervised steps are measured on one device. "
            'Choose one: --set "training.devices=[GPU:0]".'
        )
    if not task.texts:
        raise InputError(
            "There is no monolingual text to measure with. Set data.monolingual_source or data.monolingual_target; or "
            "data.num_monolingual of a generated corpus. Its weight must be above 0 (semi_supervised.source_weight, "
            "target_weight). With objective back_translation, the text must be of the side that teaches the trained "
            "translator."
        )
    surroundings = (task.vocabulary, task.strategy, task.jit_compile)
    pairs_only = make_trainable_pair(config, *surroundings, task.total_updates, sides=())
    task.load_starts(pairs_only)
    search_lengths = {text.side: text.search_lengths for text in task.texts}
    by_size = {}
    for size in beam_sizes:
        of_size = replace(config, semi_supervised=replace(config.semi_supervised, beam_size=size))
        by_size[size] = pair_of(pairs_only.translators, of_size, *surroundings, tuple(search_lengths))
        by_size[size].set_texts(config.semi_supervised, search_lengths)
    plans = {name: stream.plan for name, stream in task.streams.items()}
    return task.jit_compile, pairs_only, by_size, one_batch_of_every_shape(task.dataset(), plans)


def _parts_of_pairs(pair: TranslatorPair, shapes: Sequence[BatchShape]) -> list[StepPart]:
    """The part of every step, for every shape: gradients on the pairs, and the update."""
    learn = _called_as_in_a_step(pair, pair.pairs_part)
    return [StepPart("pairs", partial(learn, shape.batch, {}, {}), shape) for shape in shapes]


def _parts_of_text(
    pair: TranslatorPair, beam_size: int, shapes_of_texts: Mapping[Side, Sequence[BatchShape]], jit_compile: bool
) -> list[StepPart]:
    """The parts that text adds to a step, for every shape of both sides: text with search, and the search alone."""
    search = tf.function(pair.search, jit_compile=jit_compile or None, autograph=False)
    text_and_search, search_alone = _called_as_in_a_step(pair, pair.text_part), _called_as_in_a_step(pair, search)
    parts = []
    for side, shapes in shapes_of_texts.items():
        for shape in shapes:
            ids, _ = shape.batch
            limit = pair.search_lengths[side][shape.length]
            with_search = partial(text_and_search, shape.batch, side, limit)
            parts.append(StepPart("text and search", with_search, shape, beam_size, side))
            parts.append(StepPart("search", partial(search_alone, side, ids, limit), shape, beam_size, side))
    return parts


def _called_as_in_a_step(pair: TranslatorPair, part: Callable) -> Callable[..., Any]:
    """A part of a step, called on the one replica as a step calls it."""
    strategy = pair.distribute_strategy
    return lambda *arguments: strategy.run(part, args=arguments)


def _measure(
    pair: TranslatorPair,
    steps: Sequence[WholeSteps],
    parts: Sequence[StepPart],
    repeats: int,
    seconds_a_turn: float,
    say: Callable[[str], None],
) -> None:
    """Warm up all measurements, then let them take turns. Every turn begins with the same weights."""
    variables = training_variables(pair, pair.translators)
    first_values = {name: keras.ops.convert_to_numpy(variable) for name, variable in variables.items()}

    def restore() -> None:
        for name, variable in variables.items():
            variable.assign(first_values[name])

    for part in parts:  # before the whole steps, which call them, so that the compiling of each part is timed
        part.warm_up(seconds_a_turn)
        say(f"{part.description}: {part.first_seconds:.1f} seconds to the end of the first call")
    for whole_steps in steps:
        say(f"{name_of_steps(whole_steps.beam_size)}: first steps ...")
        whole_steps.warm_up(seconds_a_turn)
    measurements: list[WholeSteps | StepPart] = [*steps, *parts]
    for turn in range(repeats):
        say(f"turn {turn + 1} of {repeats} ...")
        for measurement in measurements:
            restore()
            measurement.seconds.append(measurement.run())
