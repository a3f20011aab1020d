"""What decoding a character costs, by length, batch, beam and compiler, with and without the cache."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import tensorflow as tf

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.decoding import CompiledSearch
from bytenet.models import TranslationModel
from bytenet.profiling.benchmarks.measurement import Spread, seconds_in_turns

Method = Literal["cached", "growing prefix", "fixed length"]

_SAMPLED_PREFIXES = 8


@dataclass(frozen=True)
class DecodingCase:
    """A way to decode a batch.

    Attributes:
        length: characters of each translation and of each source.
        batch_size: sentences decoded at once.
        beam_size: hypotheses; 1 is greedy search.
        jit_compile: whether XLA compiles the search.
        method: "cached" is a search by `model.step`. The others are greedy searches that call the model on the whole
            prefix for each character. "growing prefix" takes the prefix as it is, in one uncompiled graph for all
            lengths, since XLA would compile each length anew. "fixed length" pads the prefix to its final length.
    """

    length: int
    batch_size: int = 1
    beam_size: int = 1
    jit_compile: bool = False
    method: Method = "cached"


@dataclass(frozen=True)
class DecodingCost:
    """What a step of decoding costs. A step gives one character for each sentence of the batch.

    Attributes:
        case: what was measured.
        milliseconds: milliseconds per step. The encoder's time is divided among the steps.
        characters_per_second: rate of all sentences together, at the median.
        compile_seconds: time of the first run, with tracing and compiling, minus the median time.
    """

    case: DecodingCase
    milliseconds: Spread
    characters_per_second: float
    compile_seconds: float


def measure_decoding(model: TranslationModel, cases: Sequence[DecodingCase], repeats: int = 7) -> list[DecodingCost]:
    """Time whole searches. They cannot end before their length, since they may not choose the end symbol.

    Each case is run once to trace and compile it. Then the cases take turns, so that a slow minute of the machine slows
    down all of them.

    Without the cache a whole search would take minutes, so only some steps are timed. With a fixed length all steps
    cost the same. For a growing prefix, the lengths in the middle of eight equal parts are timed. Their mean is the
    mean of all lengths if the cost is linear within each part.

    Args:
        model: any `TranslationModel`. Its weights do not affect the time.
        cases: what to measure, without duplicates.
        repeats: measurements of each case.

    Returns:
        The cost of each case, in their order.

    Raises:
        InputError: a case is longer than the model can read.
    """
    for case in cases:
        model.length_policy.check(case.length)
    random = np.random.default_rng(0)
    next_ids_of_prefix = _whole_prefix_functions(model)
    runs: dict[DecodingCase, Callable[[], None]] = {}
    steps: dict[DecodingCase, int] = {}
    first_seconds: dict[DecodingCase, float] = {}
    for case in cases:
        source_ids = random.integers(EOS_ID + 1, model.vocab_size, (case.batch_size, case.length)).astype("int32")
        if case.method == "cached":
            search = CompiledSearch(model, case.beam_size, forbidden_ids=(PAD_ID, EOS_ID), jit_compile=case.jit_compile)
            runs[case], steps[case] = partial(_search, search, source_ids), case.length
        else:
            lengths = _prefix_lengths(case)
            next_ids = next_ids_of_prefix["growing" if case.method == "growing prefix" else case.jit_compile]
            runs[case], steps[case] = partial(_run_prefixes, next_ids, source_ids, lengths), len(lengths)
        began = time.perf_counter()
        runs[case]()
        first_seconds[case] = time.perf_counter() - began

    costs = []
    for case, seconds in seconds_in_turns(runs, repeats, warmup=0).items():
        spread = Spread.of(seconds)
        milliseconds = spread.scaled(1000 / steps[case])
        rate = 1000 * case.batch_size / milliseconds.median
        costs.append(DecodingCost(case, milliseconds, rate, max(0.0, first_seconds[case] - spread.median)))
    return costs


def _search(search: CompiledSearch, source_ids: np.ndarray) -> None:
    length = source_ids.shape[1]
    translations = search(source_ids, max_length=length)
    if translations.lengths.numpy().min() != length:
        raise RuntimeError(f"The search ended before {length} characters.")


def _prefix_lengths(case: DecodingCase) -> list[int]:
    if case.method == "fixed length":
        return [case.length]
    parts = min(_SAMPLED_PREFIXES, case.length)
    return [round((part + 0.5) * case.length / parts + 0.5) for part in range(parts)]


def _run_prefixes(next_ids: Callable, source_ids: np.ndarray, prefix_lengths: list[int]) -> None:
    for length in prefix_lengths:
        next_ids(source_ids, source_ids[:, :length]).numpy()


def _whole_prefix_functions(model: TranslationModel) -> dict[str | bool, Callable]:
    """Functions that give the likeliest character after a prefix, by a whole forward pass.

    Key "growing": a graph for any length. Keys False and True: a graph for each length, by `jit_compile`.
    """

    def next_ids(source_ids, target_ids):
        logits = model({"source_ids": source_ids, "target_ids": target_ids}, training=False)
        return tf.argmax(logits[:, -1], axis=-1)

    any_length = [tf.TensorSpec([None, None], tf.int32)] * 2
    return {
        "growing": tf.function(next_ids, input_signature=any_length, autograph=False),
        False: tf.function(next_ids, autograph=False),
        True: tf.function(next_ids, jit_compile=True, autograph=False),
    }
