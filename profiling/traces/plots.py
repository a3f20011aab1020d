"""Two pictures of a trace: every operation on its thread, and the operations grouped and laid end to end."""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from typing import Any, NamedTuple

from bytenet.errors import InputError
from bytenet.profiling.traces.breakdown import Breakdown, DeviceTime
from bytenet.profiling.traces.grouping import LEVELS, parts_of_layers
from bytenet.profiling.traces.trace import Step, Trace

# One colour for a group wherever it comes up; what belongs to no group is grey.
_COLOURS = {
    "forward": "#4e79a7", "backward": "#e15759", "optimiser": "#b07aa1", "input": "#76b7b2",
    "encoder": "#59a14f", "decoder": "#f28e2b",
    "pre-normalization": "#edc948", "reduce-dim": "#4e79a7", "conv-dilated": "#e15759", "recover-dim": "#59a14f",
    "embedding": "#76b7b2",
    "normalisation": "#edc948", "activation": "#f28e2b", "convolution": "#e15759", "dense": "#4e79a7",
    "data movement": "#9c755f", "dropout": "#59a14f", "gather": "#86bcb6", "loss": "#d37295",
    "sum of gradients": "#ff9da7", "communication": "#499894", "input pipeline": "#76b7b2",
    "other": "#bab0ac", "runtime": "#d9d5d2",
}  # fmt: skip
_PART_COLOURS = ("#9c755f", "#b07aa1", "#d37295", "#499894", "#8cd17d", "#f1ce63")
_LEAST_SHARE = 0.002
"""Share of a step below which a thread is left out."""
# Inches and points: a page shows a picture at about its own size.
_WIDTH, _DPI, _SMALL, _TINY = 8.0, 120, 9, 7.5
_LETTER = 0.6  # width in sizes of the letters
_MOST_LETTERS = 26  # of a thread's name
_LEGEND = {"loc": "outside lower center", "ncols": 4, "fontsize": _SMALL, "frameon": False}


class Span(NamedTuple):
    """A stretch of a step in which a thread or stream works for one kind of operation.

    Attributes:
        device: its name.
        thread: its name for people, unlike that of any other.
        start_ms, duration_ms: milliseconds; `start_ms` since the step began.
        kind: of operation, level 3 of the groups.
    """

    device: str
    thread: str
    start_ms: float
    duration_ms: float
    kind: str


@dataclass(frozen=True)
class Timeline:
    """A step as it is drawn.

    Attributes:
        step: its number.
        milliseconds: how long it takes.
        spans: in the order of the rows of the picture, from top to bottom, and of time.
        left_out: number of threads that do next to nothing, whose spans are not here.
    """

    step: int
    milliseconds: float
    spans: list[Span]
    left_out: int


@dataclass(frozen=True)
class KnownStep:
    """A step of another machine of which a few sums are known, to be drawn beside a grouped profile.

    Attributes:
        machine: what it ran on.
        seconds: by group, one after the other; their sum is the time in which a device was busy.
        step_seconds: how long the step took.
        words: what to say of the groups.
    """

    machine: str
    seconds: Mapping[str, float]
    step_seconds: float
    words: str = ""

    @property
    def text(self) -> str:
        """What is known, in a line."""
        return f"{self.machine}: busy {sum(self.seconds.values()):.3g} s of a step of {self.step_seconds:.3g} s"


def timeline(trace: Trace, step: int | None = None) -> Timeline:
    """What each thread or stream does in one step, operation by operation.

    Args:
        trace: as `read_trace` gives it.
        step: number of the step; None is the one of median length.

    Raises:
        InputError: there is no such step.
    """
    chosen = _choose(trace, step)
    found: dict[tuple[str, str], list[tuple[float, float, str]]] = defaultdict(list)
    for segment in trace.segments:
        start, end = max(segment.start, chosen.start), min(segment.end, chosen.end)
        if end > start:
            piece = (1e3 * (start - chosen.start), 1e3 * (end - start), segment.operation.place.kind)
            found[segment.operation.device, segment.line].append(piece)
    least = _LEAST_SHARE * 1e3 * chosen.seconds
    rows = sorted(row for row, pieces in found.items() if sum(duration for _, duration, _ in pieces) >= least)
    names = _thread_names(rows)
    spans = [Span(device, names[line], *piece) for device, line in rows for piece in sorted(found[device, line])]
    return Timeline(chosen.number, 1e3 * chosen.seconds, spans, len(found) - len(rows))


def plot_timeline(trace: Trace, path: str | os.PathLike[str], step: int | None = None) -> None:
    """Draw one step as rectangles, a row for each thread or stream, coloured by kind of operation.

    Args:
        trace: as `read_trace` gives it.
        path: of the picture; its suffix decides the format.
        step: number of the step; None is the one of median length.

    Raises:
        InputError: there is no such step.

    Reference:
        Madsen 2017, figure 3.3.4.
    """
    draw_timeline(timeline(trace, step), path)


def draw_timeline(chosen: Timeline, path: str | os.PathLike[str], notes: Sequence[str] = ()) -> None:
    """Draw what `timeline` gives, with lines of `notes` above; see `plot_timeline`."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    rows: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    totals: dict[str, float] = defaultdict(float)
    for span in chosen.spans:
        rows[span.device, span.thread][span.kind].append((span.start_ms, span.duration_ms))
        totals[span.kind] += span.duration_ms
    figure = Figure(figsize=(_WIDTH, 1.9 + 0.18 * len(notes) + 0.24 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for index, kinds in enumerate(rows.values()):
        for kind, pieces in kinds.items():
            axes.broken_barh(pieces, (index - 0.4, 0.8), facecolors=_colour(kind), linewidth=0)
    names = [f"{device}  {_shortened(thread)}" for device, thread in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=_TINY)
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, chosen.milliseconds), xlabel="milliseconds of the step")
    left_out = f"; {chosen.left_out} that do next to nothing are left out" if chosen.left_out else ""
    figure.suptitle("\n".join([f"Step {chosen.step} by device and thread{left_out}", *notes]), fontsize=_SMALL)
    kinds = sorted(totals, key=lambda kind: -totals[kind])
    figure.legend(handles=[Patch(color=_colour(kind), label=kind) for kind in kinds], **_LEGEND)
    figure.savefig(path, dpi=_DPI)


def plot_grouped(result: Breakdown, path: str | os.PathLike[str]) -> None:
    """Draw an average step as bars, one for each device and level, the groups' seconds laid end to end.

    A line marks the end of the step; what lies between a bar and the line is idle time.

    Args:
        result: as `breakdown` gives it.
        path: of the picture; its suffix decides the format.

    Reference:
        Madsen 2017, figure 3.3.6.
    """
    draw_grouped(result.devices, result.step_seconds, path)


def draw_grouped(
    devices: Sequence[DeviceTime], step_seconds: float, path: str | os.PathLike[str], beside: KnownStep | None = None
) -> None:
    """Draw devices of a breakdown whose steps take `step_seconds`; see `plot_grouped`.

    Args:
        devices: of the breakdown.
        step_seconds: mean over its steps.
        path: of the picture.
        beside: what is known of a step of another machine; below the devices, on an axis of its own.
    """
    from matplotlib.figure import Figure

    heights = [len(LEVELS)] * len(devices) + [1] * (beside is not None)
    figure = Figure(figsize=(_WIDTH, 0.7 + 0.42 * sum(heights) + 0.75 * len(heights)), layout="constrained")
    # A panel of one bar gets some height more, for its title is as high as that of four.
    all_axes = figure.subplots(len(heights), height_ratios=[height + 0.2 for height in heights], squeeze=False)[:, 0]
    unlabelled: dict[str, Any] = {}
    for device, axes in zip(devices, all_axes, strict=False):
        _draw_device(axes, device, 1e3 * step_seconds, unlabelled)
    if beside is not None:
        for axes in all_axes[:-1]:
            axes.set_title(f"here, {axes.get_title()}", fontsize="medium")
        _draw_beside(all_axes[-1], beside)
    all_axes[-1].set_xlabel("milliseconds a step, groups in alphabetical order; the black line is the end of the step")
    figure.legend(handles=list(unlabelled.values()), **_LEGEND)
    figure.savefig(path, dpi=_DPI)


def _draw_device(axes: Any, device: DeviceTime, step: float, unlabelled: dict[str, Any]) -> None:
    """A bar for each level, within `step` milliseconds; adds to `unlabelled` the groups too narrow for their names."""
    from matplotlib.patches import Patch

    for row, level in enumerate(LEVELS):
        left = 0.0
        for group in sorted(device.level(level), key=lambda group: group.group):
            (name,), width = group.group, 1e3 * group.seconds
            axes.barh(row, width, 0.86, left=left, color=_colour(name), edgecolor="white", linewidth=0.5)
            if width / step > _share_of_text(name):
                text = f"{name}\n{group.share:.0%}"
                axes.text(left + width / 2, row, text, ha="center", va="center", fontsize=_TINY)
            elif group.share >= 0.005:
                unlabelled.setdefault(name, Patch(color=_colour(name), label=name))
            left += width
    axes.set_yticks(range(len(LEVELS)), LEVELS)
    _finish(axes, len(LEVELS), step)
    share = device.busy_seconds * 1e3 / step
    axes.set_title(f"{device.device}: busy {share:.0%} of {step:,.0f} ms", fontsize="medium")


def _draw_beside(axes: Any, known: KnownStep) -> None:
    left, step = 0.0, 1e3 * known.step_seconds
    for name, seconds in known.seconds.items():
        axes.barh(0, 1e3 * seconds, 0.86, left=left, color=_colour(name), edgecolor="white", linewidth=0.5)
        left += 1e3 * seconds
    axes.text(left + 0.01 * step, 0, known.words, va="center", fontsize=_SMALL)
    axes.set_yticks([])
    _finish(axes, 1, step)
    axes.set_title(known.text, fontsize="medium")


def _finish(axes: Any, num_bars: int, step: float) -> None:
    axes.axvline(step, color="black", linewidth=1)
    axes.set(ylim=(num_bars - 0.5, -0.5), xlim=(0, 1.02 * step))


def _share_of_text(name: str) -> float:
    """How much of the width of a picture the name of a group takes."""
    return (_LETTER * len(name) + 1) * _TINY / (0.9 * 72 * _WIDTH)


def _choose(trace: Trace, number: int | None) -> Step:
    if number is None:
        return sorted(trace.steps, key=lambda step: step.seconds)[len(trace.steps) // 2]
    for step in trace.steps:
        if step.number == number:
            return step
    known = ", ".join(str(step.number) for step in trace.steps)
    raise InputError(f"There is no step {number} in {trace.path}; it holds the steps {known}.")


def _thread_names(rows: list[tuple[str, str]]) -> dict[str, str]:
    """Names for people of the threads; those of one pool are told apart by a number instead of their long ids."""
    names: dict[str, str] = {}
    count: dict[str, int] = defaultdict(int)
    for line in sorted({line for _, line in rows}):
        pool, has_id, _ = line.partition("/")
        pool = pool.removeprefix("tf_").replace("numa_-1_", "")
        count[pool] += 1
        names[line] = f"{pool} {count[pool]}" if has_id else pool
    return names


def _shortened(thread: str) -> str:
    """A name without its middle where it is long."""
    return thread if len(thread) <= _MOST_LETTERS else f"{thread[: _MOST_LETTERS - 12]}…{thread[-11:]}"


def _colour(group: str) -> str:
    return _COLOURS.get(group) or _part_colours().get(group, _COLOURS["other"])


@cache
def _part_colours() -> dict[str, str]:
    """Colours of the parts of all families that have none above."""
    parts = dict.fromkeys(place.part for place in parts_of_layers().values())
    return dict(zip((part for part in parts if part not in _COLOURS), cycle(_PART_COLOURS), strict=False))
