"""Breaks the time of a step down: seconds and share of each group, busy and idle time, and what is not known."""

from collections import defaultdict

import numpy as np

from bytenet.errors import InputError
from bytenet.profiling.traces.breakdown_values import Breakdown, DeviceTime, Gaps, GroupTime
from bytenet.profiling.traces.grouping import INPUT, LEVELS, folded_name, place_of
from bytenet.profiling.traces.intervals import shared_seconds, union_seconds
from bytenet.profiling.traces.operations import Operation, Segment, Step, Trace
from bytenet.profiling.traces.trace_file import capture_notes

_TOP = 15

_Clipped = tuple[Segment, float, float]  # a segment, with start and end of its part within a step


def breakdown(trace: Trace) -> Breakdown:
    """Group the time of a trace's steps.

    Args:
        trace: from `read_trace`.

    Raises:
        InputError: no operation runs in the steps.
    """
    clipped = _clip(trace)
    if not any(end > start for _, start, end in clipped):
        raise InputError(
            f"{trace.path} holds no operations in the steps{'' if trace.has_steps else ' (no step is marked)'}. "
            "Capture it again, with steps that contain work of TensorFlow."
        )
    count = len(trace.steps)
    devices = []
    seconds_of: dict[Operation, float] = defaultdict(float)
    for device in trace.devices:
        of_device = [(segment, start, end) for segment, start, end in clipped if segment.operation.device == device]
        starts = np.array([start for _, start, _ in of_device])
        ends = np.array([end for _, _, end in of_device])
        shared = shared_seconds(starts, ends) / count
        for (segment, _, _), seconds in zip(of_device, shared, strict=True):
            seconds_of[segment.operation] += float(seconds)
        devices.append(_device_time(device, trace.steps, of_device, shared))
    notes = capture_notes(trace.path)
    return Breakdown(
        trace=str(trace.path),
        steps=[(step.number, step.seconds) for step in trace.steps],
        has_steps=trace.has_steps,
        # The notes of the capture are more reliable: XLA also computes single operations of a graph, such as a slice
        # update in a search.
        is_compiled=notes.get("compiled", trace.is_compiled),
        devices=devices,
        gaps=_gaps(trace, seconds_of),
        warnings=trace.warnings,
        capture=notes,
    )


def _clip(trace: Trace) -> list[_Clipped]:
    """The parts of the segments that lie within steps."""
    starts = np.array([step.start for step in trace.steps])
    ends = np.array([step.end for step in trace.steps])
    clipped: list[_Clipped] = []
    for segment in trace.segments:
        first = int(np.searchsorted(ends, segment.start, side="right"))
        for index in range(first, len(starts)):
            if starts[index] > segment.end:
                break
            clipped.append((segment, max(segment.start, starts[index]), min(segment.end, ends[index])))
    return clipped


def _device_time(device: str, steps: list[Step], segments: list[_Clipped], shared: np.ndarray) -> DeviceTime:
    count = len(steps)
    busy = float(shared.sum())
    groups: dict[tuple[str, ...], np.ndarray] = defaultdict(lambda: np.zeros(3))
    operations: dict[tuple[str, ...], np.ndarray] = defaultdict(lambda: np.zeros(3))
    for (segment, start, end), seconds in zip(segments, shared, strict=True):
        operation = segment.operation
        began = segment.is_first and not segment.is_help and start == segment.start
        values = np.array([seconds, (end - start) / count, began / count])
        groups[operation.place] += values
        operations[_label(operation)] += values

    def table(sums: dict[tuple[str, ...], np.ndarray]) -> list[GroupTime]:
        rows = [
            GroupTime(tuple(name), float(seconds), float(seconds) / busy if busy else 0.0, float(summed), float(runs))
            for name, (seconds, summed, runs) in sums.items()
        ]
        return sorted(rows, key=lambda row: -row.seconds)

    summed = sum(end - start for _, start, end in segments) / count
    wall = sum(step.seconds for step in steps) / count
    return DeviceTime(
        device, busy, max(wall - busy, 0.0), summed / busy if busy else 0.0, table(groups), table(operations)[:_TOP]
    )


def _label(operation: Operation) -> tuple[str, str]:
    name = folded_name(operation.path) or operation.instruction or "(no name)"
    return (name, operation.kind)


def _gaps(trace: Trace, seconds_of: dict[Operation, float]) -> Gaps:
    busy = sum(seconds_of.values()) or 1.0
    unnamed = sum(
        seconds for operation, seconds in seconds_of.items() if not operation.path and operation.kind != INPUT
    )
    ungrouped = sum(
        seconds for operation, seconds in seconds_of.items() if operation.path and set(operation.place[:3]) == {"other"}
    )
    fused = 0.0
    mixed, misplaced = dict.fromkeys(LEVELS, 0.0), dict.fromkeys(LEVELS, 0.0)
    for operation, seconds in seconds_of.items():
        if len(operation.sources) < 2:
            continue
        fused += seconds / busy
        for index, level in enumerate(LEVELS):
            elsewhere = sum(
                source.weight
                for source in operation.sources
                if place_of(source.path, source.kind)[index] != operation.place[index]
            )
            mixed[level] += seconds / busy * (elsewhere > 0)
            misplaced[level] += seconds / busy * elsewhere
    return Gaps(unnamed / busy, ungrouped / busy, _python_share(trace), fused, mixed, misplaced)


def _python_share(trace: Trace) -> float | None:
    inside = [
        (max(start, step.start), min(end, step.end))
        for step in trace.steps
        for start, end in trace.host_calls
        if start < step.end and end > step.start
    ]
    if not inside:
        return None
    starts, ends = (np.array(column) for column in zip(*inside, strict=True))
    wall = sum(step.seconds for step in trace.steps)
    return 1 - union_seconds(starts, ends) / wall
