"""Where the time of a step goes: seconds and share of every group, busy and idle time, and what is not known."""

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bytenet.errors import InputError
from bytenet.profiling.traces.grouping import INPUT, LEVELS, folded_name, place_of
from bytenet.profiling.traces.nesting import shared_seconds, union_seconds
from bytenet.profiling.traces.trace import Operation, Segment, Step, Trace
from bytenet.profiling.traces.trace_file import capture_notes

_TOP = 15


@dataclass(frozen=True)
class GroupTime:
    """The time of a group (or an operation) in an average step.

    Attributes:
        group: its name at each level, or the name of the operation.
        seconds: of the clock; a moment in which several threads or streams are busy is shared out equally among
            them, so that all groups of a device add up to its busy time.
        share: of the device's busy time.
        summed_seconds: the durations of all executions summed, over all threads and streams, as the thesis did.
        executions: how often its operations ran.
    """

    group: tuple[str, ...]
    seconds: float
    share: float
    summed_seconds: float
    executions: float


@dataclass(frozen=True)
class DeviceTime:
    """An average step on one device.

    Attributes:
        device: its name.
        busy_seconds: of the clock, in which at least one thread or stream works; `idle_seconds` the rest of the step.
        threads: mean number of threads or streams at work while it is busy.
        groups: by all four levels at once; what every other table is made of.
        top: the operations that take most, equal ones of all blocks taken together.
    """

    device: str
    busy_seconds: float
    idle_seconds: float
    threads: float
    groups: list[GroupTime]
    top: list[GroupTime]

    def level(self, *levels: str) -> list[GroupTime]:
        """The groups of one level, or of the combinations of some, largest first.

        Args:
            *levels: of `LEVELS`: "pass", "half", "part", "kind".
        """
        places = [LEVELS.index(level) for level in levels]
        sums: dict[tuple[str, ...], np.ndarray] = defaultdict(lambda: np.zeros(4))
        for group in self.groups:
            key = tuple(group.group[place] for place in places)
            sums[key] += (group.seconds, group.share, group.summed_seconds, group.executions)
        return sorted((GroupTime(key, *map(float, values)) for key, values in sums.items()), key=lambda g: -g.seconds)


@dataclass(frozen=True)
class Gaps:
    """What the groups do not tell, as shares of all devices' busy time unless said otherwise.

    Attributes:
        unnamed: scheduling, operations too cheap for TensorFlow's profiler to note (many in the loops of a plain
            graph), threads of which is not known what for, and instructions without a name.
        ungrouped: named operations that belong to no pass and no part of the model; at most their kind is known.
        python: share of the steps' time that Python spends outside of TensorFlow; None where the trace notes no calls
            of Python within the steps, so that it is not known.
        fused: time in compiled instructions that hold more than one operation; 0 in a plain graph.
        mixed: for each level, time in instructions whose operations belong to more than one group.
        misplaced: for each level, the part of that time that belongs to other groups than the one it is counted
            in, going by the number of elements; what the grouping may be wrong by.
    """

    unnamed: float
    ungrouped: float
    python: float | None
    fused: float
    mixed: dict[str, float]
    misplaced: dict[str, float]


@dataclass(frozen=True)
class Breakdown:
    """The result, an average over the steps of a trace.

    Attributes:
        trace: path of the file.
        steps: number and seconds of each.
        has_steps: whether they are marked in the trace.
        is_compiled: whether XLA compiled the operations.
        devices: one by one.
        gaps: what is not covered.
        warnings: of the profiler.
        capture: what is known of how it was captured, if it was here.
    """

    trace: str
    steps: list[tuple[int, float]]
    has_steps: bool
    is_compiled: bool
    devices: list[DeviceTime]
    gaps: Gaps
    warnings: list[str]
    capture: dict[str, Any] = field(default_factory=dict)

    @property
    def step_seconds(self) -> float:
        """Mean seconds of the clock that a step takes."""
        return sum(seconds for _, seconds in self.steps) / len(self.steps)

    def to_dict(self) -> dict[str, Any]:
        """All values, for JSON; every level's groups are listed beside the full table."""
        values = asdict(self)
        for device, time in zip(values["devices"], self.devices, strict=True):
            device["levels"] = {level: [asdict(group) for group in time.level(level)] for level in LEVELS}
        return values | {"step_seconds": self.step_seconds}


def breakdown(trace: Trace) -> Breakdown:
    """Group the time of a trace's steps.

    Args:
        trace: as `read_trace` gives it.

    Raises:
        InputError: nothing runs in the steps.
    """
    clipped = _clip(trace)
    if not any(end > start for _, start, end in clipped):
        raise InputError(
            f"{trace.path} holds no operations in the steps{'' if trace.has_steps else ' (none is marked)'}. Its steps "
            "must lie around work of TensorFlow; capture it again."
        )
    count = len(trace.steps)
    devices = []
    seconds_of: dict[Operation, float] = defaultdict(float)
    for device in trace.devices:
        found = [(segment, start, end) for segment, start, end in clipped if segment.operation.device == device]
        starts = np.array([start for _, start, _ in found])
        ends = np.array([end for _, _, end in found])
        shared = shared_seconds(starts, ends) / count
        for (segment, _, _), seconds in zip(found, shared, strict=True):
            seconds_of[segment.operation] += float(seconds)
        devices.append(_device_time(device, trace.steps, found, shared))
    return Breakdown(
        trace=str(trace.path),
        steps=[(step.number, step.seconds) for step in trace.steps],
        has_steps=trace.has_steps,
        is_compiled=trace.is_compiled,
        devices=devices,
        gaps=_gaps(trace, seconds_of),
        warnings=trace.warnings,
        capture=capture_notes(trace.path),
    )


def _clip(trace: Trace) -> list[tuple[Segment, float, float]]:
    """The segments within steps, those that reach out of one cut off."""
    starts = np.array([step.start for step in trace.steps])
    ends = np.array([step.end for step in trace.steps])
    clipped = []
    for segment in trace.segments:
        first = int(np.searchsorted(ends, segment.start, side="right"))
        for index in range(first, len(starts)):
            if starts[index] > segment.end:
                break
            clipped.append((segment, max(segment.start, starts[index]), min(segment.end, ends[index])))
    return clipped


def _device_time(device: str, steps: list[Step], found: list[tuple[Segment, float, float]], shared) -> DeviceTime:
    count = len(steps)
    busy = float(shared.sum())
    groups: dict[tuple[str, ...], np.ndarray] = defaultdict(lambda: np.zeros(3))
    operations: dict[tuple[str, ...], np.ndarray] = defaultdict(lambda: np.zeros(3))
    for (segment, start, end), seconds in zip(found, shared, strict=True):
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

    summed = sum(end - start for _, start, end in found) / count
    wall = sum(step.seconds for step in steps) / count
    return DeviceTime(
        device, busy, max(wall - busy, 0.0), summed / busy if busy else 0.0, table(groups), table(operations)[:_TOP]
    )


def _label(operation: Operation) -> tuple[str, str]:
    name = folded_name(operation.path) or operation.instruction or "(no name)"
    return (name, operation.kind)


def _gaps(trace: Trace, seconds_of: dict[Operation, float]) -> Gaps:
    busy = sum(seconds_of.values()) or 1.0
    unnamed = sum(seconds for found, seconds in seconds_of.items() if not found.path and found.kind != INPUT)
    ungrouped = sum(
        seconds for found, seconds in seconds_of.items() if found.path and set(found.place[:3]) == {"other"}
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
