"""The values of a breakdown: the time of an average step by device and group, and what the groups do not show."""

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bytenet.profiling.traces.grouping import LEVELS


@dataclass(frozen=True)
class GroupTime:
    """The time of a group (or an operation) in an average step.

    Attributes:
        group: the group's name at each level; or name and type of the operation.
        seconds: wall-clock time. A moment in which several threads or streams are busy is shared equally among them,
            so that all groups of a device add up to its busy time.
        share: share of the device's busy time.
        summed_seconds: sum of the durations of all executions on all threads and streams, as in the thesis.
        executions: number of executions.
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
        device: name of the device.
        busy_seconds: wall-clock time in which at least one thread or stream works.
        idle_seconds: the rest of the step.
        threads: mean number of threads or streams at work while the device is busy.
        groups: groups by all four levels at once. Every other table is a sum over them.
        top: the operations that take most time. Equal operations of all blocks count as one.
    """

    device: str
    busy_seconds: float
    idle_seconds: float
    threads: float
    groups: list[GroupTime]
    top: list[GroupTime]

    def level(self, *levels: str) -> list[GroupTime]:
        """The groups of one level, or of combinations of several levels, largest first.

        Args:
            *levels: names among `LEVELS`: "pass", "half", "part", "kind".
        """
        places = [LEVELS.index(level) for level in levels]
        sums: dict[tuple[str, ...], np.ndarray] = defaultdict(lambda: np.zeros(4))
        for group in self.groups:
            key = tuple(group.group[place] for place in places)
            sums[key] += (group.seconds, group.share, group.summed_seconds, group.executions)
        return sorted((GroupTime(key, *map(float, values)) for key, values in sums.items()), key=lambda g: -g.seconds)


@dataclass(frozen=True)
class Gaps:
    """What the groups do not show, as shares of the busy time of all devices.

    Attributes:
        unnamed: scheduling; operations too cheap for TensorFlow's profiler to record (many in the loops of a plain
            graph); threads whose purpose is not known; and instructions without a name.
        ungrouped: named operations that belong to no pass and no part of the model. Only their kind may be known.
        python: time that Python spends outside of TensorFlow, as a share of the steps' time. None if it is not known
            because the trace records no calls of Python within the steps.
        fused: compiled instructions that hold more than one operation; 0 in a plain graph.
        mixed: by level, instructions whose operations belong to more than one group.
        misplaced: by level, the part of that time that belongs to other groups than the group it is counted in. It is
            estimated by the number of elements, and is the possible error of the grouping.
    """

    unnamed: float
    ungrouped: float
    python: float | None
    fused: float
    mixed: dict[str, float]
    misplaced: dict[str, float]


@dataclass(frozen=True)
class Breakdown:
    """Where the time goes, as an average over the steps of a trace.

    Attributes:
        trace: path of the file.
        steps: number and seconds of each step.
        has_steps: whether steps are marked in the trace.
        is_compiled: whether XLA compiled the step or the search as a whole.
        devices: an average step on each device.
        gaps: what the groups do not show.
        warnings: warnings of the profiler.
        capture: how the trace was captured; empty if another program captured it.
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
        """Mean duration of a step, in seconds."""
        return sum(seconds for _, seconds in self.steps) / len(self.steps)

    def to_dict(self) -> dict[str, Any]:
        """All values, for JSON; beside the groups by all levels, the groups of each single level."""
        values = asdict(self)
        for device, time in zip(values["devices"], self.devices, strict=True):
            device["levels"] = {level: [asdict(group) for group in time.level(level)] for level in LEVELS}
        return values | {"step_seconds": self.step_seconds}
