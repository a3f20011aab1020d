"""Reads a trace: which operation each thread worked for at each moment, on which device and in which step."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from bytenet.profiling.traces.grouping import INPUT, RUNTIME, replica_of, update_of
from bytenet.profiling.traces.intervals import Piece, innermost
from bytenet.profiling.traces.operations import Operation, Segment, Step, Trace
from bytenet.profiling.traces.trace_file import RawEvent, RawLine, RawTrace, read_trace_file
from bytenet.profiling.traces.xla_instructions import instruction_sources

_GRAPH_OPERATION = re.compile(r"(?P<path>[^:]+):(?P<kind>[A-Za-z_]\w*)$")
_SCHEDULING = frozenset({"ExecutorState::Process", "ThunkExecutor::Execute"})
_WAITING = frozenset({"BlockUntilReady"})
_INPUT = ("Iterator::", "IteratorGetNextOp::DoCompute", "PrefetchProduce", "GetNextFromShard")
_HOST_CALL = ("TFE_Py_Execute", "TFE_Py_FastPathExecute")
_REGION_START, _REGION_END = "ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion"
_RECORD = "ThreadpoolListener::Record"
_LONGEST_CHAIN = 10  # of helpers that ask other helpers


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read a trace file, or the newest one in a folder such as TensorBoard's --logdir.

    Raises:
        MissingFileError: there is no trace file.
        InputError: the file is damaged or empty.
    """
    return interpret(read_trace_file(path))


def interpret(raw: RawTrace) -> Trace:
    """Find the steps and operations in raw events."""
    return _Reader(raw).trace()


class _Help:
    """Work of a pool's thread for an operation of another thread.

    TensorFlow gives each request a number. It records the number where the request was made (Record) and where the
    work was done (StartRegion).
    """

    def __init__(self, number: int):
        self.number = number


class _Waiting:
    """Time in which a thread waits."""


# What a thread's time is spent on.
_Owner = Operation | _Help | _Waiting


class _Reader:
    def __init__(self, raw: RawTrace):
        self._raw = raw
        self._sources = {program: instruction_sources(module) for program, module in raw.modules.items()}
        self._operations: dict[tuple, Operation] = {}
        self._asked_by: dict[int, _Owner] = {}
        # The replicas of a model share the threads of the host. Only the names of the operations tell them apart.
        names = {event.name.rpartition(":")[0] for line in raw.lines for event in line.events}
        self._replicas = {replica_of(name) for name in names}
        self._is_split = any(self._replicas) and not any(line.plane.startswith("/device:") for line in raw.lines)
        self._planes_of_streams = {line.plane for line in raw.lines if line.name.startswith("Stream")}
        host = "CPU:0" if self._is_split else "CPU"
        self._runtime = self._operation("", RUNTIME, host)
        self._input = self._operation("", INPUT, host)
        self._waiting = _Waiting()

    def trace(self) -> Trace:
        pieces = [
            (line, list(innermost(self._intervals(line)))) for line in self._raw.lines if not self._is_derived(line)
        ]
        for line, pieces_of_line in pieces:
            self._note_requests(line, pieces_of_line)
        segments = [
            Segment(operation, line.name, piece.start, piece.end, piece.is_first, isinstance(piece.owner, _Help))
            for line, pieces_of_line in pieces
            for piece in pieces_of_line
            if (operation := self._operation_of(piece.owner)) is not None
        ]
        steps = list(self._marked_steps())
        return Trace(
            path=self._raw.path,
            steps=steps or [_whole_capture(segments)],
            has_steps=bool(steps),
            segments=segments,
            host_calls=[
                (event.start, event.end) for line in self._raw.lines for event in line.events
                if event.name.startswith(_HOST_CALL)
            ],
            is_compiled=any(segment.operation.instruction for segment in segments),
            warnings=list(self._raw.warnings),
        )  # fmt: skip

    def _marked_steps(self) -> Iterator[Step]:
        """The marked steps in order. Of overlapping or nested marks, only the first and outermost is a step."""
        marks = [
            event for line in self._raw.lines if line.plane.startswith("/host") for event in line.events
            if "step_num" in event.stats
        ]  # fmt: skip
        last = float("-inf")
        for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
            if mark.start >= last:
                yield Step(int(mark.stats["step_num"]), mark.start, mark.end)
                last = mark.end

    def _intervals(self, line: RawLine) -> Iterator[tuple[float, float, _Owner]]:
        region: RawEvent | None = None
        for event in sorted(line.events, key=lambda event: event.start):
            if event.name == _REGION_START:
                region = event
            elif event.name == _REGION_END:
                if region is not None:
                    yield region.start, event.end, _Help(region.stats.get("_c", 0))
                region = None
            elif (owner := self._owner(line, event)) is not None:
                yield event.start, event.end, owner

    def _owner(self, line: RawLine, event: RawEvent) -> _Owner | None:
        """What the time of an event is spent on; None for an event that only describes the event around it."""
        stats = event.stats
        if "hlo_op" in stats:
            return self._instruction(line, str(stats["hlo_op"]), stats.get("program_id", 0))
        if line.plane.startswith("/device:"):
            match = _GRAPH_OPERATION.fullmatch(str(stats.get("tf_op", "")))
            path, kind = match.group("path", "kind") if match else ("", event.name)
            return self._operation(path, kind, self._device(line.plane, path))
        if event.name in _SCHEDULING:
            return self._runtime
        if event.name in _WAITING:
            return self._waiting
        if event.name.startswith(_INPUT):
            return self._input
        match = _GRAPH_OPERATION.fullmatch(event.name)
        if match is None:
            return None
        return self._operation(match["path"], match["kind"], self._device(line.plane, match["path"]))

    def _device(self, plane: str, path: str) -> str:
        if plane.startswith("/device:"):
            return plane.removeprefix("/device:").partition(" ")[0]
        if not self._is_split:
            return "CPU"
        number = replica_of(path) or update_of(path)
        # The number of an `update_N` may also be that of a variable.
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

    def _note_requests(self, line: RawLine, pieces: Iterable[Piece[_Owner]]) -> None:
        """Note which operation each request for help on a thread was made for."""
        requests = sorted((event.start, event.stats.get("_p", 0)) for event in line.events if event.name == _RECORD)
        in_order = sorted(pieces, key=lambda piece: piece.start)
        index = 0
        for time, number in requests:
            while index + 1 < len(in_order) and in_order[index + 1].start <= time:
                index += 1
            if in_order and in_order[index].start <= time <= in_order[index].end:
                self._asked_by[number] = in_order[index].owner

    def _operation_of(self, owner: _Owner) -> Operation | None:
        """The operation that time is spent on; None for waiting."""
        working: _Owner | None = owner
        for _ in range(_LONGEST_CHAIN):
            if isinstance(working, _Help):
                working = self._asked_by.get(working.number)
        if isinstance(working, _Waiting):
            return None
        return working if isinstance(working, Operation) else self._runtime

    def _is_derived(self, line: RawLine) -> bool:
        """Whether a line of an accelerator only repeats other lines in another order, as `Steps` or `XLA Modules`.

        A TPU records `XLA Ops`. For a GPU, TensorFlow derives that line from the kernels in the streams.
        """
        if not line.plane.startswith("/device:"):
            return False
        return not line.name.startswith("Stream" if line.plane in self._planes_of_streams else "XLA Ops")


def _whole_capture(segments: Sequence[Segment]) -> Step:
    """One step from the first to the last segment."""
    first = min((segment.start for segment in segments), default=0.0)
    return Step(0, first, max((segment.end for segment in segments), default=0.0))
