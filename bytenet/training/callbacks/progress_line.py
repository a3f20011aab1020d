"""The line that shows the progress of a training."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import keras
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column

from bytenet.training.state import TrainingState

_SECONDS_BETWEEN_LINES = 30.0
_SECONDS_BETWEEN_REDRAWS = 0.1
# Characters in a line of the window: from _WIDE on there is room for a long bar, from _NARROW on for a short one, and
# from _NARROWEST on for the number of the step and the measurements.
_WIDE, _NARROW, _NARROWEST = 100, 60, 40


class ProgressLine(keras.callbacks.Callback):
    """Shows epoch, step, loss, learning rate, characters per second and the time left, on standard error.

    On a terminal, it is one line with a bar, which fits the window and is redrawn. Elsewhere, for example in a log
    file, it is a new line every half minute. New batch shapes are shown too, because XLA compiles the step for each of
    them, which takes much longer than a step.

    Args:
        state: kept up to date by `StateKeeper`, which must be an earlier callback.
        steps_per_epoch: batches in an epoch.
        total_steps: of the run; the last epoch may end early.
        compiles: whether a new shape means a new compilation.
        shows: whether anything is shown. Of several workers, only the chief shows the progress.
        console: where it is shown; None for standard error.

    Attributes:
        console: where it is shown.
        compile_seconds: time of all steps with a new shape.
    """

    def __init__(
        self,
        state: TrainingState,
        steps_per_epoch: int,
        total_steps: int,
        compiles: bool,
        shows: bool = True,
        console: Console | None = None,
    ):
        super().__init__()
        self._state = state
        self._epochs = -(-total_steps // steps_per_epoch)
        self._steps_per_epoch = steps_per_epoch
        self._total_steps = total_steps
        self._compiles = compiles
        self._shapes: set[tuple[str, tuple[int, int]]] = set()
        self._is_new = False
        self._recent: list[tuple[float, int]] = []
        self._shown_at = time.monotonic()
        self._bar: Progress | None = None
        self.compile_seconds = 0.0
        self.console = console or Console(file=sys.stderr, highlight=False, quiet=not shows)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        (self._bar.console if self._bar else self.console).print(text, markup=False, soft_wrap=True)

    def next_shapes(self, shapes: Mapping[str, tuple[int, int]]) -> None:
        """Take the shapes of the batches that come next, and show the new ones.

        Args:
            shapes: `(rows, length)` by name of the stream: "pairs", or the side of a text.
        """
        self._began_step = time.monotonic()
        new = [(name, shape) for name, shape in shapes.items() if (name, shape) not in self._shapes]
        self._is_new = bool(new) and self._compiles
        if self._is_new:
            numbers = range(len(self._shapes) + 1, len(self._shapes) + len(new) + 1)
            self._shapes.update(new)
            descriptions = [
                f"{number}: {rows} x {length}{'' if name == 'pairs' else f' of {name} text'}"
                for number, (name, (rows, length)) in zip(numbers, new, strict=True)
            ]
            self._show(f"compiling batch shape {', '.join(descriptions)} ...")

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the bar, if standard error is a terminal."""
        if not self.console.is_terminal:
            yield
            return
        with Progress(*self._columns(), console=self.console, expand=True) as self._bar:
            self._task = self._bar.add_task("", total=self._total_steps, text="")
            yield
        self._bar = None

    def _columns(self) -> list[ProgressColumn]:
        """What fits into one line of the window. If it is narrow, the measurements are cut first, never the time."""

        def fixed() -> Column:
            return Column(no_wrap=True)

        def cut() -> Column:
            return Column(ratio=1, no_wrap=True, overflow="ellipsis")

        time_left = TimeRemainingColumn(table_column=fixed())
        if self.console.width < _NARROWEST:
            return [TextColumn("{task.description}", table_column=cut()), time_left]
        bar_width = 20 if self.console.width >= _WIDE else 8
        return [
            TextColumn("{task.description}", table_column=fixed()),
            *([BarColumn(bar_width)] if self.console.width >= _NARROW else []),
            MofNCompleteColumn(table_column=fixed()),
            time_left,
            TextColumn("{task.fields[text]}", table_column=cut()),
        ]

    def on_epoch_begin(self, epoch, logs=None):
        self._recent = [(time.monotonic(), self._state.characters)]

    def on_train_batch_end(self, batch, logs=None):
        now = time.monotonic()
        if self._is_new:
            self.compile_seconds += now - self._began_step
            self._recent = []  # the speed does not include compilations
        self._recent = [*self._recent[-50:], (now, self._state.characters)]
        if any(name.startswith("val_") for name in logs or {}):
            self._say_measured(f"epoch {self._state.epoch + 1}/{self._epochs}, step {self._place}", logs)
            self._recent = [(time.monotonic(), self._state.characters)]  # the speed does not include evaluations
        elif self._is_time_to_show():
            self._show(self._describe(logs or {}))

    def on_epoch_end(self, epoch, logs=None):
        if self._bar is not None:  # the latest steps may not be shown yet
            self._show(self._describe(logs or {}))
        self._say_measured(f"epoch {epoch + 1}/{self._epochs}", logs or {})

    def _say_measured(self, place: str, logs: Mapping[str, float]) -> None:
        measured = ", ".join(f"{name} {value:.4g}" for name, value in logs.items() if value is not None)
        self.say(f"{place} ({_clock(self._state.seconds)}): {measured}")

    @property
    def _place(self) -> str:
        return f"{self._state.batch}/{self._steps_per_epoch}"

    def _describe(self, logs: dict) -> str:
        parts = [f"loss {float(logs.get('loss', float('nan'))):.4f}"]
        if "character_error" in logs:
            parts.append(f"error {float(logs['character_error']):.3f}")
        parts.append(f"lr {float(self.model.optimizer.learning_rate):.2g}")
        if (speed := self.characters_per_second) is not None:
            parts.append(f"{speed:,.0f} chars/s")
        return ", ".join(parts)

    @property
    def characters_per_second(self) -> float | None:
        """Real target characters per second, over the latest steps without compilations. None before such a step."""
        (began, before), (ended, after) = self._recent[0], self._recent[-1]
        return (after - before) / (ended - began) if ended > began else None

    def _is_time_to_show(self) -> bool:
        """Whether the shown text is old. To show it takes longer than a step of a small model."""
        shown_for = _SECONDS_BETWEEN_LINES if self._bar is None else _SECONDS_BETWEEN_REDRAWS
        return time.monotonic() - self._shown_at >= shown_for

    def _show(self, text: str) -> None:
        self._shown_at = time.monotonic()
        state = self._state
        epoch = f"epoch {min(state.epoch + 1, self._epochs)}/{self._epochs}"  # after the last epoch, still the last
        if self._bar is not None:
            self._bar.update(self._task, completed=state.step, description=epoch, text=text)
            return
        self.say(f"[{_clock(state.seconds)}] {epoch}, step {self._place}: {text}")


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
