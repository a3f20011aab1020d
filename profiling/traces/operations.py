"""What a trace holds: steps, operations, and the segments of time that threads spend on operations."""

from dataclasses import dataclass, field
from pathlib import Path

from bytenet.profiling.traces.grouping import Place, place_of
from bytenet.profiling.traces.xla_instructions import Source


@dataclass(frozen=True)
class Step:
    """One step of training, or one search.

    Attributes:
        number: its number in the trace.
        start, end: seconds since the capture began. Work of the host around the step is included.
    """

    number: int
    start: float
    end: float

    @property
    def seconds(self) -> float:
        """Duration of the step."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class Operation:
    """An operation of the graph, or an instruction of a program that XLA compiled. It may run many times.

    Attributes:
        path: its name in the graph, or the name of an instruction's heaviest source; "" if there is none.
        kind: its type, such as "Conv2D".
        device: "CPU", "CPU:1", "GPU:0", ...
        instruction: its name in the compiled program; "" in a plain graph.
        sources: the operations of the graph that an instruction computes.
    """

    path: str
    kind: str
    device: str
    instruction: str = ""
    sources: tuple[Source, ...] = ()

    @property
    def place(self) -> Place:
        """Its groups."""
        return place_of(self.path, self.kind)


@dataclass(frozen=True, slots=True)
class Segment:
    """Time in which a thread or stream works for one operation, and for no operation nested in it.

    Attributes:
        operation: the operation.
        line: name of the thread or stream.
        start, end: seconds since the capture began.
        is_first: whether an execution of the operation begins here.
        is_help: whether the thread is another one than the operation's own.
    """

    operation: Operation
    line: str
    start: float
    end: float
    is_first: bool
    is_help: bool


@dataclass(frozen=True)
class Trace:
    """The contents of a trace file.

    Attributes:
        path: path of the file.
        steps: in order of time. If no steps are marked, the whole capture is one step.
        has_steps: whether steps are marked.
        segments: segments of all devices, in no order.
        host_calls: start and end of Python's calls into TensorFlow, in seconds.
        is_compiled: whether XLA compiled operations.
        warnings: warnings of the profiler.
    """

    path: Path
    steps: list[Step]
    has_steps: bool
    segments: list[Segment]
    host_calls: list[tuple[float, float]] = field(default_factory=list)
    is_compiled: bool = False
    warnings: list[str] = field(default_factory=list)

    @property
    def devices(self) -> list[str]:
        """Names of the devices, sorted."""
        return sorted({segment.operation.device for segment in self.segments})
