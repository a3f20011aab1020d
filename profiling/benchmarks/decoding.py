"""What a character costs when it is decoded: by length, batch, beam, compiler, and without the cache."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import tensorflow as tf

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.decoding import Decoder
from bytenet.models import TranslationModel
from bytenet.profiling.benchmarks.measurement import Spread, seconds_in_turns

Method = Literal["cached", "growing prefix", "fixed length"]

_SAMPLED_PREFIXES = 8


@dataclass(frozen=True)
class DecodingCase:
    """A way to decode a batch.

    Attributes:
        length: characters decoded a sentence; the source is as long.
        batch_size: sentences decoded at once.
        beam_size: 1 for greedy search.
        jit_compile: compile with XLA.
        method: "cached" is a search by `model.step`. The others are greedy search without it, by `model.call` on
            the whole prefix at each character: on the prefix as it is ("growing prefix", one uncompiled graph for
            all lengths, since XLA would compile each anew), or padded to its final length ("fixed length").
    """

    length: int
    batch_size: int = 1
    beam_size: int = 1
    jit_compile: bool = False
    method: Method = "cached"


@dataclass(frozen=True)
class DecodingCost:
    """What a step of decoding took, one character for each sentence of the batch.

    Attributes:
        case: what was measured.
        milliseconds: a step, the encoder's time shared out over the steps.
        characters_per_second: of all sentences together, at the median.
        compile_seconds: by how much the first run, with tracing and compilation, took longer than the median one.
    """

    case: DecodingCase
    milliseconds: Spread
    characters_per_second: float
    compile_seconds: float


def measure_decoding(model: TranslationModel, cases: Sequence[DecodingCase], repeats: int = 7) -> list[DecodingCost]:
    """Time whole searches that cannot end before their length, since they may not choose the end symbol.

    The cases take turns, so that a machine that slows down for a while slows all of them; each is run once
    before, for tracing and compilation. Without the cache a search would take minutes. Its steps are timed alone: with
    a fixed length all cost the same; of a growing prefix, the lengths in the middle of eight equal parts are timed,
    whose mean is the mean of all as far as the cost between them is a straight line.

    Args:
        model: any `TranslationModel`; its weights do not matter.
        cases: what to measure, each once.
        repeats: measurements of each.

    Returns:
        A cost for each case, in their order.
    """
    random = np.random.default_rng(0)
    rerun = _whole_prefix_functions(model)
    runs: dict[DecodingCase, Callable[[], None]] = {}
    steps: dict[DecodingCase, int] = {}
    first_seconds: dict[DecodingCase, float] = {}
    for case in cases:
        source_ids = random.integers(EOS_ID + 1, model.vocab_size, (case.batch_size, case.length)).astype("int32")
        if case.method == "cached":
            decoder = Decoder(model, case.beam_size, forbidden_ids=(PAD_ID, EOS_ID), jit_compile=case.jit_compile)
            runs[case], steps[case] = partial(_search, decoder, source_ids), case.length
        else:
            prefixes = _prefix_lengths(case)
            next_ids = rerun["growing" if case.method == "growing prefix" else case.jit_compile]
            runs[case], steps[case] = partial(_rerun, next_ids, source_ids, prefixes), len(prefixes)
        began = time.perf_counter()
        runs[case]()
        first_seconds[case] = time.perf_counter() - began

    costs = []
    for case, taken in seconds_in_turns(runs, repeats, warmup=0).items():
        milliseconds = Spread.of(taken).scaled(1000 / steps[case])
        rate = 1000 * case.batch_size / milliseconds.median
        costs.append(DecodingCost(case, milliseconds, rate, max(0.0, first_seconds[case] - Spread.of(taken).median)))
    return costs


def _search(decoder: Decoder, source_ids: np.ndarray) -> None:
    length = source_ids.shape[1]
    found = decoder(source_ids, max_length=length)
    if found.lengths.numpy().min() != length:
        raise RuntimeError(f"The search ended before {length} characters.")


def _prefix_lengths(case: DecodingCase) -> list[int]:
    if case.method == "fixed length":
        return [case.length]
    parts = min(_SAMPLED_PREFIXES, case.length)
    return [round((part + 0.5) * case.length / parts + 0.5) for part in range(parts)]


def _rerun(next_ids: Callable, source_ids: np.ndarray, prefix_lengths: list[int]) -> None:
    for length in prefix_lengths:
        next_ids(source_ids, source_ids[:, :length]).numpy()


def _whole_prefix_functions(model: TranslationModel) -> dict:
    """The likeliest character after a prefix, by the whole forward pass: for any length, and by `jit_compile`."""

    def next_ids(source_ids, target_ids):
        logits = model({"source_ids": source_ids, "target_ids": target_ids}, training=False)
        return tf.argmax(logits[:, -1], axis=-1)

    any_length = [tf.TensorSpec([None, None], tf.int32)] * 2
    return {
        "growing": tf.function(next_ids, input_signature=any_length, autograph=False),
        False: tf.function(next_ids, autograph=False),
        True: tf.function(next_ids, jit_compile=True, autograph=False),
    }
