"""A trace as steps and operations: what ran when on which thread of which device, and for which part of the model."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bytenet.profiling.traces.compiled import Source, instruction_sources
from bytenet.profiling.traces.grouping import INPUT, RUNTIME, Place, place_of, replica_of, update_of
from bytenet.profiling.traces.nesting import innermost
from bytenet.profiling.traces.trace_file import RawEvent, RawLine, RawTrace, read_trace_file


@dataclass(frozen=True)
class Step:
    """One step of training, or one search.

    Attributes:
        number: as counted by whoever captured it.
        start, end: seconds since the capture began; what the host does around the step counts.
    """

    number: int
    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class Operation:
    """An operation of the graph, or an instruction of a compiled program; however often it runs.

    Attributes:
        path: its name in the graph, or that of its heaviest source; "" where nothing says.
        kind: its type.
        device: "CPU", "CPU:1", "GPU:0", ...
        instruction: of the compiled program, "" in a plain graph.
        sources: what an instruction was made of.
    """

    path: str
    kind: str
    device: str
    instruction: str = ""
    sources: tuple[Source, ...] = ()

    @property
    def place(self) -> Place:
        """The groups it belongs to."""
        return place_of(self.path, self.kind)


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of time in which a thread or stream works for an operation and for none inside it.

    Attributes:
        operation: what for.
        line: name of the thread or stream.
        start, end: seconds since the capture began.
        is_first: whether an execution of the operation begins here.
        is_help: whether this is another thread than the one that runs the operation.
    """

    operation: Operation
    line: str
    start: float
    end: float
    is_first: bool
    is_help: bool


@dataclass(frozen=True)
class Trace:
    """What a trace file tells.

    Attributes:
        path: of the file.
        steps: in order; the whole capture as one step where none are marked.
        has_steps: whether they are marked.
        segments: of all devices, in no order.
        host_calls: start and end of Python's calls into TensorFlow, in seconds.
        is_compiled: whether operations were compiled by XLA.
        warnings: of the profiler.
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


_GRAPH_OPERATION = re.compile(r"(?P<path>[^:]+):(?P<kind>[A-Za-z_]\w*)$")
_SCHEDULING = frozenset({"ExecutorState::Process", "ThunkExecutor::Execute"})
_WAITING = frozenset({"BlockUntilReady"})
_INPUT = ("Iterator::", "IteratorGetNextOp::DoCompute", "PrefetchProduce", "GetNextFromShard")
_HOST_CALL = ("TFE_Py_Execute", "TFE_Py_FastPathExecute")
_REGION_START, _REGION_END = "ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion"
_RECORD = "ThreadpoolListener::Record"


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read a trace file, or the newest one in a folder such as TensorBoard's --logdir.

    Raises:
        MissingFileError: there is none.
        InputError: it is damaged or empty.
    """
    return interpret(read_trace_file(path))


def interpret(raw: RawTrace) -> Trace:
    """Make steps and operations of raw events."""
    return _Reader(raw).trace()


class _Helping:
    """Owner of the time that a thread of a pool works for an operation of another thread.

    TensorFlow notes with a number who asked for the work (Record) and where it was done (StartRegion).
    """

    def __init__(self, number: int):
        self.number = number


class _Reader:
    def __init__(self, raw: RawTrace):
        self._raw = raw
        self._sources = {program: instruction_sources(module) for program, module in raw.modules.items()}
        self._operations: dict[tuple, Operation] = {}
        self._asked_by: dict[int, object] = {}
        # The copies of a model share the threads of the host; only the names of the operations tell them apart.
        names = {event.name.rpartition(":")[0] for line in raw.lines for event in line.events}
        self._replicas = {replica_of(name) for name in names}
        self._is_split = any(self._replicas) and not any(line.plane.startswith("/device:") for line in raw.lines)
        self._planes_of_streams = {line.plane for line in raw.lines if line.name.startswith("Stream")}
        host = "CPU:0" if self._is_split else "CPU"
        self._runtime = self._operation("", RUNTIME, host)
        self._input = self._operation("", INPUT, host)
        self._waiting = object()

    def trace(self) -> Trace:
        pieces = [
            (line, list(innermost(self._intervals(line)))) for line in self._raw.lines if not self._is_derived(line)
        ]
        for line, found in pieces:
            self._note_askers(line, found)
        segments = [
            Segment(owner, line.name, piece.start, piece.end, piece.is_first, is_help=isinstance(piece.owner, _Helping))
            for line, found in pieces
            for piece in found
            if (owner := self._resolve(piece.owner)) is not None
        ]
        steps = list(self._steps())
        if not steps:
            first = min((s.start for s in segments), default=0.0)
            steps_or_all = [Step(0, first, max((s.end for s in segments), default=0.0))]
        calls = [
            (event.start, event.end) for line in self._raw.lines for event in line.events
            if event.name.startswith(_HOST_CALL)
        ]  # fmt: skip
        return Trace(
            path=self._raw.path,
            steps=steps or steps_or_all,
            has_steps=bool(steps),
            segments=segments,
            host_calls=calls,
            is_compiled=any(segment.operation.instruction for segment in segments),
            warnings=list(self._raw.warnings),
        )

    def _steps(self) -> Iterable[Step]:
        """The marked steps in order; of marks inside others, or reaching into others, the first and outermost."""
        marks = [
            event for line in self._raw.lines if line.plane.startswith("/host") for event in line.events
            if "step_num" in event.stats
        ]  # fmt: skip
        last = float("-inf")
        for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
            if mark.start >= last:
                yield Step(int(mark.stats["step_num"]), mark.start, mark.end)
                last = mark.end

    def _intervals(self, line: RawLine):
        region: RawEvent | None = None
        for event in sorted(line.events, key=lambda event: event.start):
            if event.name == _REGION_START:
                region = event
            elif event.name == _REGION_END:
                if region is not None:
                    yield region.start, event.end, _Helping(region.stats.get("_c", 0))
                region = None
            elif (owner := self._owner(line, event)) is not None:
                yield event.start, event.end, owner

    def _owner(self, line: RawLine, event: RawEvent) -> object | None:
        """Whose time an event is; None for an event that only describes the one around it."""
        stats = event.stats
        if "hlo_op" in stats:
            return self._instruction(line, str(stats["hlo_op"]), stats.get("program_id", 0))
        if line.plane.startswith("/device:"):
            found = _GRAPH_OPERATION.fullmatch(str(stats.get("tf_op", "")))
            path, kind = found.groups() if found else ("", event.name)
            return self._operation(path, kind, self._device(line.plane, path))
        if event.name in _SCHEDULING:
            return self._runtime
        if event.name in _WAITING:
            return self._waiting
        if event.name.startswith(_INPUT):
            return self._input
        found = _GRAPH_OPERATION.fullmatch(event.name)
        if found is None:
            return None
        return self._operation(found["path"], found["kind"], self._device(line.plane, found["path"]))

    def _device(self, plane: str, path: str) -> str:
        if plane.startswith("/device:"):
            return plane.removeprefix("/device:").partition(" ")[0]
        if not self._is_split:
            return "CPU"
        number = replica_of(path) or update_of(path)
        # An `update_N` may also be the Nth variable's.
        return f"CPU:{number if number in self._replicas else 0}"

    def _operation(self, path: str, kind: str, device: str) -> Operation:
        key = (path, kind, device)
        if key not in self._operations:
            self._operations[key] = Operation(path, kind, device)
        return self._operations[key]

    def _instruction(self, line: RawLine, name: str, program: int) -> Operation:
        key = (program, name, line.plane)
        if key not in self._operations:
            sources = self._sources.get(program, {}).get(name, ())
            path, kind = (sources[0].path, sources[0].kind) if sources else ("", re.sub(r"[.\d]+$", "", name))
            self._operations[key] = Operation(path, kind, self._device(line.plane, path), name, sources)
        return self._operations[key]

    def _note_askers(self, line: RawLine, pieces: list) -> None:
        """Note for every request of help on this thread what it was asked for."""
        requests = sorted((event.start, event.stats.get("_p", 0)) for event in line.events if event.name == _RECORD)
        pieces = sorted(pieces, key=lambda piece: piece.start)
        place = 0
        for time, number in requests:
            while place + 1 < len(pieces) and pieces[place + 1].start <= time:
                place += 1
            if pieces and pieces[place].start <= time <= pieces[place].end:
                self._asked_by[number] = pieces[place].owner

    def _resolve(self, owner: object) -> Operation | None:
        """The operation that time is spent for; None for waiting."""
        seen = 0
        while isinstance(owner, _Helping) and seen < 10:
            owner = self._asked_by.get(owner.number)
            seen += 1
        if owner is self._waiting:
            return None
        return owner if isinstance(owner, Operation) else self._runtime

    def _is_derived(self, line: RawLine) -> bool:
        """Whether a line of an accelerator only repeats others in another order, as `Steps` or `XLA Modules`.

        `XLA Ops` is what a TPU notes, but on a GPU TensorFlow makes it of the kernels in the streams.
        """
        if not line.plane.startswith("/device:"):
            return False
        return not line.name.startswith("Stream" if line.plane in self._planes_of_streams else "XLA Ops")
