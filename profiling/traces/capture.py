"""Capture what TensorFlow's profiler sees of some steps of real training, or of some searches.

The file it leaves is the one that TensorBoard's Profile tab shows. Beside it lies `capture.json`: what was captured,
and how long such steps take while nobody watches.
"""

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import EOS_ID, PAD_ID, Vocabulary, load_corpus
from bytenet.decoding import Decoder
from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from bytenet.models import TranslationModel, build_model
from bytenet.profiling.traces.trace_file import CAPTURE_FILE, find_trace
from bytenet.training import train
from bytenet.training.tasks import Task, make_task
from bytenet.training.trainable_model import set_up_keras

_LEAST_WARM_UP = 5
_STEPS = 5
_LOOKED_AT = 200  # batches, for steps to capture
_COMPILED_STEPS = 3  # every shape among them has to be compiled before
_Shapes = tuple[tuple[int, int], ...]  # rows and length of a step's batches: the pairs', and each monolingual text's


def capture_training(
    config: Config,
    folder: str | os.PathLike[str],
    steps: tuple[int, int] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Train as the configuration says and capture some steps; the training ends with them.

    It is the training of `bytenet train`, with its data, callbacks and `fit`. Only the evaluation within an epoch
    (`evaluation.continuous_every_seconds`, `..._steps`) is off; the one at the end of an epoch takes place, between
    steps, where steps after it are asked for. The run itself is thrown away.

    Args:
        config: of the training.
        folder: to put the trace in, as TensorBoard wants it; must not hold one.
        steps: first and last step to capture, counted from 1. None takes some of the earliest whose batch shapes
            have all come up before, so that no graph is traced and nothing compiled within them.
        say: told what is going on.

    Returns:
        The trace file.

    Raises:
        InputError: the corpus, the configuration or the folder cannot be used, or the training has fewer steps.
    """
    folder = _new_folder(folder)
    task = make_task(config)
    shapes = _batch_shapes(task, least=steps[1] if steps else _LOOKED_AT)
    first, last = steps or _settled_steps(shapes, _COMPILED_STEPS if task.jit_compile else _STEPS)
    new = set(shapes[first - 1 : last]) - set(shapes[: first - 1])
    if new:
        say(f"warning: batch shapes {sorted(new)} come up first within the steps; setting up for them is captured too.")
    say(f"capturing steps {first} to {last}; the training ends with step {last}")
    callback = _CaptureSteps(folder, first, last)
    # Measuring on the way takes as long as many steps, and is none of them.
    evaluation = replace(config.evaluation, continuous_every_seconds=1e9, continuous_every_steps=None)
    with tempfile.TemporaryDirectory() as run, _ending_with(callback):
        train(replace(config, evaluation=evaluation), Path(run) / "run", more_callbacks=[callback])
    if not callback.is_done:
        raise InputError(
            f"The training has only {callback.step} steps, so steps {first} to {last} could not be captured. Give "
            "earlier ones as --steps, or more with training.epochs and training.max_steps."
        )
    return _finish(
        folder,
        {
            "what": "training",
            "steps": [first, last],
            "batch_shapes": [list(pairs) for pairs, *_ in shapes[first - 1 : last]],
            "seconds_before": callback.seconds,
            "settled_seconds_before": _settled_seconds(shapes[: first - 1], callback.seconds, shapes[first - 1 : last]),
            "compiled": callback.compiled,
            "settings": _settings(config),
        },
    )


@dataclass(frozen=True)
class Search:
    """The searches to capture.

    Attributes:
        beam_size: 1 for greedy search.
        batch_size: sentences at once.
        max_length: characters that every search is made to write, since it may not choose the end symbol.
        count: searches captured.
        jit_compile: compile with XLA.
    """

    beam_size: int = 1
    batch_size: int = 1
    max_length: int = 100
    count: int = 3
    jit_compile: bool = False


def capture_decoding(
    model: TranslationModel,
    source_ids: np.ndarray,
    folder: str | os.PathLike[str],
    search: Search = Search(),
    settings: dict[str, Any] | None = None,
) -> Path:
    """Capture whole searches, each as one step; the graph is traced, and compiled, before.

    Args:
        model: any `TranslationModel`; its weights do not matter for the time.
        source_ids: int32 `(batch, source_length)`, 0 where padded.
        folder: to put the trace in; must not hold one.
        search: what to capture.
        settings: noted beside the trace.

    Returns:
        The trace file.
    """
    folder = _new_folder(folder)
    decoder = Decoder(model, search.beam_size, forbidden_ids=(PAD_ID, EOS_ID), jit_compile=search.jit_compile)

    def find() -> float:
        began = time.perf_counter()
        decoder(source_ids, max_length=search.max_length).ids.numpy()
        return time.perf_counter() - began

    find()
    before = [find() for _ in range(search.count)]
    tf.profiler.experimental.start(str(folder))
    try:
        for number in range(1, search.count + 1):
            with tf.profiler.experimental.Trace("search", step_num=number, _r=1):
                find()
    finally:
        tf.profiler.experimental.stop()
    return _finish(
        folder,
        {
            "what": "decoding",
            "steps": [1, search.count],
            "batch_shapes": [list(source_ids.shape)] * search.count,
            "seconds_before": before,
            "settled_seconds_before": statistics.median(before),
            "compiled": search.jit_compile,
            "beam_size": search.beam_size,
            "characters": search.max_length,
            "settings": settings or {},
        },
    )


def capture_decoding_of(config: Config, folder: str | os.PathLike[str], search: Search = Search()) -> Path:
    """Capture searches of an untrained model of a configuration on sentences of its corpus; see `capture_decoding`.

    Where the corpus has fewer sentences than a batch takes, they are repeated.
    """
    pairs = load_corpus(config.data).train
    vocabulary = Vocabulary.from_pairs(pairs, config.data)
    set_up_keras(config)
    model = build_model(config.model, vocabulary.size)
    encoded = [vocabulary.encode(text) for text in islice(cycle(pairs.source), search.batch_size)]
    source_ids = keras.utils.pad_sequences(encoded, padding="post", dtype="int32")
    return capture_decoding(model, source_ids, folder, search, _settings(config))


class _Captured(Exception):  # noqa: N818 (it is no error)
    """Ends a training whose steps are captured."""


class _CaptureSteps(keras.callbacks.Callback):
    """Runs the profiler around some steps, and marks each of them."""

    def __init__(self, folder: Path, first: int, last: int):
        super().__init__()
        self._folder = folder
        self._first = first
        self._last = last
        self._mark: Any = None
        self.step = 0
        self.is_done = False
        self.compiled = False
        self.seconds: list[float] = []

    def on_train_batch_begin(self, batch, logs=None):
        self.step += 1
        if self.step == self._first:
            self.compiled = bool(self.model.jit_compile)
            tf.profiler.experimental.start(str(self._folder))
        if self.step >= self._first:
            self._mark = tf.profiler.experimental.Trace("train", step_num=self.step, _r=1)
            self._mark.__enter__()
        self._began = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        if self.step < self._first:
            self.seconds.append(time.perf_counter() - self._began)
            return
        self._mark.__exit__(None, None, None)
        if self.step == self._last:
            tf.profiler.experimental.stop()
            self.is_done = True
            raise _Captured

    def stop_profiler(self) -> None:
        """Stop a profiler that a failure left running, and throw away what it has."""
        if self._first <= self.step and not self.is_done:
            tf.profiler.experimental.stop(save=False)


@contextmanager
def _ending_with(callback: _CaptureSteps) -> Iterator[None]:
    """Inside, a training ends quietly when its steps are captured, and the profiler never stays on."""
    try:
        yield
    except _Captured:
        return
    finally:
        callback.stop_profiler()


def _batch_shapes(task: Task, least: int) -> list[_Shapes]:
    """Those of so many whole epochs that there are at least so many steps, if the training has them."""
    num_batches = task.plan.num_batches
    epochs = min(task.config.training.epochs, -(-least // num_batches))
    streams = task.streams.values()
    steps = ([stream.batch_at(step) for stream in streams] for step in range(epochs * num_batches))
    return [tuple((len(batch.indices), batch.length) for batch in batches) for batches in steps]


def _settled_seconds(shapes: Sequence[_Shapes], seconds: Sequence[float], captured: Sequence[_Shapes]) -> float | None:
    """What a captured step would take on average if nobody watched: the median of those of its own shapes, before.

    Args:
        shapes, seconds: of the steps before; the first of its shapes sets up for them, and does not count.
        captured: shapes of the captured steps.

    Returns:
        Seconds, or None where shapes among `captured` have not settled before.
    """
    settled: dict[_Shapes, list[float]] = {}
    for index, (shape, taken) in enumerate(zip(shapes, seconds, strict=True)):
        if shape in shapes[:index]:
            settled.setdefault(shape, []).append(taken)
    if not set(captured) <= set(settled):
        return None
    return statistics.fmean(statistics.median(settled[shape]) for shape in captured)


def _settled_steps(shapes: Sequence[_Shapes], count: int) -> tuple[int, int]:
    """First and last of so many steps, the earliest after a warm-up whose shapes have all come up before."""
    for first in range(_LEAST_WARM_UP, len(shapes) - count + 1):
        if set(shapes[first : first + count]) <= set(shapes[:first]):
            return first + 1, first + count
    return _LEAST_WARM_UP + 1, _LEAST_WARM_UP + count


def _new_folder(folder: str | os.PathLike[str]) -> Path:
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not empty. Give another folder for the trace, or remove it.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _settings(config: Config) -> dict[str, Any]:
    """What differs from the default settings."""
    return {key: value for key, value, _ in config.differences(Config())}


def _finish(folder: Path, capture: dict[str, Any]) -> Path:
    write_text_atomic(folder / CAPTURE_FILE, json.dumps(capture, indent=2, default=str) + "\n")
    return find_trace(folder)
