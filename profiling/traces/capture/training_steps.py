"""Captures some steps of real training."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from bytenet.config import Config
from bytenet.errors import InputError
from bytenet.profiling.traces.capture.settled_steps import first_settled_steps, settled_seconds, shapes_of_steps
from bytenet.profiling.traces.capture.trace_folder import changed_settings, new_trace_folder, write_notes
from bytenet.training import train
from bytenet.training.starts import take_over_start
from bytenet.training.tasks import make_task


def capture_training(
    config: Config,
    folder: str | os.PathLike[str],
    steps: tuple[int, int] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Train as the configuration says, capture some steps, and stop after them.

    The training is that of `bytenet train`, with its data, callbacks and `fit`. Only evaluations within an epoch
    (`evaluation.every_steps`, `continuous_every_seconds` and `continuous_every_steps`) are off. The evaluation at the
    end of an epoch takes place between steps. The run folder is removed afterwards.

    Args:
        config: the training.
        folder: folder for the trace, in TensorBoard's layout; must be new or empty.
        steps: first and last step to capture, counted from 1. None chooses early steps whose batch shapes have all
            come up before, so that no graph is traced and nothing is compiled within them.
        say: called with messages on the progress.

    Returns:
        The trace file.

    Raises:
        InputError: the corpus, the configuration or the folder cannot be used, or the training has fewer steps.
    """
    folder = new_trace_folder(folder)
    task = make_task(*take_over_start(config))
    shapes = shapes_of_steps(task, steps[1]) if steps else shapes_of_steps(task)
    first, last = steps or first_settled_steps(shapes[: task.total_steps], task.jit_compile)
    _check_number_of_steps(task.total_steps, first, last)
    new_shapes = set(shapes[first - 1 : last]) - set(shapes[: first - 1])
    if new_shapes:
        say(
            f"warning: batch shapes {sorted(new_shapes)} first come up within the captured steps, which therefore "
            "include tracing and compiling."
        )
    say(f"capturing steps {first} to {last}; the training ends with step {last}")
    callback = _CaptureSteps(folder, first, last)
    # An evaluation within an epoch takes as long as many steps, and is not part of a step.
    evaluation = replace(config.evaluation, every_steps=None, continuous_every_seconds=1e9, continuous_every_steps=None)
    with tempfile.TemporaryDirectory() as run, _ending_with(callback):
        train(replace(config, evaluation=evaluation), Path(run) / "run", more_callbacks=[callback])
    if not callback.is_done:  # it ended early
        _check_number_of_steps(callback.step, first, last)
    captured = shapes[first - 1 : last]
    return write_notes(
        folder,
        {
            "what": "training",
            "steps": [first, last],
            "batch_shapes": [list(pairs) for pairs, *_ in captured],
            "seconds_before": callback.seconds,
            "settled_seconds_before": settled_seconds(shapes[: first - 1], callback.seconds, captured),
            "compiled": callback.compiled,
            "settings": changed_settings(config),
        },
    )


def _check_number_of_steps(number: int, first: int, last: int) -> None:
    if number < last:
        raise InputError(
            f"The training has only {number} steps, so steps {first} to {last} cannot be captured. Give earlier steps "
            "(--steps), or make the training longer (training.epochs, training.max_steps)."
        )


class _Captured(Exception):  # noqa: N818 (not an error)
    """Ends a training whose steps have been captured."""


class _CaptureSteps(keras.callbacks.Callback):
    """Runs the profiler around some steps, and marks each of them in the trace."""

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
        """Stop the profiler if a failure left it running, and discard its data."""
        if self._first <= self.step and not self.is_done:
            tf.profiler.experimental.stop(save=False)


@contextmanager
def _ending_with(callback: _CaptureSteps) -> Iterator[None]:
    """End a training quietly once its steps are captured; afterwards the profiler is off."""
    try:
        yield
    except _Captured:
        return
    finally:
        callback.stop_profiler()
