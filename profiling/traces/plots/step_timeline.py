"""The picture of one step: a row for each thread or stream, and a rectangle for each operation."""

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bytenet.errors import InputError
from bytenet.picture_sizes import SMALL, WIDTH
from bytenet.profiling.traces.operations import Step, Trace
from bytenet.profiling.traces.plots.style import TINY, colour_of, save

_LEAST_SHARE = 0.002
"""Share of a step; a thread that works less is left out."""
_LONGEST_NAME = 26  # letters of a thread's name


class Span(NamedTuple):
    """A stretch of a step in which a thread or stream works for one kind of operation.

    Attributes:
        device: name of the device.
        thread: short name of the thread; no two threads share one.
        start_ms: milliseconds from the start of the step to the start of the span.
        duration_ms: duration, milliseconds.
        kind: kind of operation, level 3 of the groups.
    """

    device: str
    thread: str
    start_ms: float
    duration_ms: float
    kind: str


@dataclass(frozen=True)
class Timeline:
    """One step, as it is drawn.

    Attributes:
        step: number of the step.
        milliseconds: duration of the step.
        spans: sorted by the rows of the picture from top to bottom, then by time.
        left_out: number of threads that do almost nothing and are left out.
    """

    step: int
    milliseconds: float
    spans: list[Span]
    left_out: int


def timeline(trace: Trace, step: int | None = None) -> Timeline:
    """What each thread or stream does in one step, operation by operation.

    Args:
        trace: from `read_trace`.
        step: number of the step; None chooses the step of median duration.

    Raises:
        InputError: the trace has no such step.
    """
    chosen = _choose(trace, step)
    pieces_of: dict[tuple[str, str], list[tuple[float, float, str]]] = defaultdict(list)
    for segment in trace.segments:
        start, end = max(segment.start, chosen.start), min(segment.end, chosen.end)
        if end > start:
            piece = (1e3 * (start - chosen.start), 1e3 * (end - start), segment.operation.place.kind)
            pieces_of[segment.operation.device, segment.line].append(piece)
    least = _LEAST_SHARE * 1e3 * chosen.seconds
    rows = sorted(row for row, pieces in pieces_of.items() if sum(duration for _, duration, _ in pieces) >= least)
    names = _thread_names(rows)
    spans = [Span(device, names[line], *piece) for device, line in rows for piece in sorted(pieces_of[device, line])]
    return Timeline(chosen.number, 1e3 * chosen.seconds, spans, len(pieces_of) - len(rows))


def plot_timeline(trace: Trace, path: str | os.PathLike[str], step: int | None = None) -> None:
    """Draw one step as rectangles, in a row for each thread or stream, coloured by kind of operation.

    Args:
        trace: from `read_trace`.
        path: path of the picture; its suffix decides the format.
        step: number of the step; None chooses the step of median duration.

    Raises:
        InputError: the trace has no such step.

    Reference:
        Madsen 2017, figure 3.3.4.
    """
    draw_timeline(timeline(trace, step), path)


def draw_timeline(chosen: Timeline, path: str | os.PathLike[str], notes: Sequence[str] = ()) -> None:
    """Draw a timeline, with lines of `notes` above it; see `plot_timeline`."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    rows: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    totals: dict[str, float] = defaultdict(float)
    for span in chosen.spans:
        rows[span.device, span.thread][span.kind].append((span.start_ms, span.duration_ms))
        totals[span.kind] += span.duration_ms
    figure = Figure(figsize=(WIDTH, 1.9 + 0.18 * len(notes) + 0.24 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for index, pieces_of in enumerate(rows.values()):
        for kind, pieces in pieces_of.items():
            axes.broken_barh(pieces, (index - 0.4, 0.8), facecolors=colour_of(kind), linewidth=0)
    names = [f"{device}  {_shortened(thread)}" for device, thread in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=TINY)
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, chosen.milliseconds), xlabel="milliseconds of the step")
    figure.suptitle("\n".join([_title(chosen), *notes]), fontsize=SMALL)
    kinds = sorted(totals, key=lambda kind: -totals[kind])
    save(figure, path, legend=[Patch(color=colour_of(kind), label=kind) for kind in kinds])


def _title(chosen: Timeline) -> str:
    title = f"Step {chosen.step} by device and thread"
    if chosen.left_out == 1:
        return f"{title}; 1 thread that does almost nothing is left out"
    return f"{title}; {chosen.left_out} threads that do almost nothing are left out" if chosen.left_out else title


def _choose(trace: Trace, number: int | None) -> Step:
    if number is None:
        return sorted(trace.steps, key=lambda step: step.seconds)[len(trace.steps) // 2]
    for step in trace.steps:
        if step.number == number:
            return step
    numbers = ", ".join(str(step.number) for step in trace.steps)
    raise InputError(f"There is no step {number} in {trace.path}. It holds the steps {numbers}.")


def _thread_names(rows: list[tuple[str, str]]) -> dict[str, str]:
    """Short names of the threads. A number tells the threads of one pool apart, instead of their long ids."""
    names: dict[str, str] = {}
    count: dict[str, int] = defaultdict(int)
    for line in sorted({line for _, line in rows}):
        pool, has_id, _ = line.partition("/")
        pool = pool.removeprefix("tf_").replace("numa_-1_", "")
        count[pool] += 1
        names[line] = f"{pool} {count[pool]}" if has_id else pool
    return names


def _shortened(thread: str) -> str:
    """A name without its middle if it is long."""
    return thread if len(thread) <= _LONGEST_NAME else f"{thread[: _LONGEST_NAME - 12]}…{thread[-11:]}"
