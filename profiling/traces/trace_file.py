"""The file that TensorFlow's profiler writes (`*.xplane.pb`), as plain values: the only module that knows its format.

TensorFlow itself carries the definition of the format, so reading needs no further package; only looking at the
same file in TensorBoard does (`bytenet.profiling.traces.tensorboard`).
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytenet.errors import InputError, MissingFileError

CAPTURE_FILE = "capture.json"
"""Notes of `bytenet.profiling.traces.capture` on a trace, in the folder that TensorBoard is given."""
_SUFFIX = ".xplane.pb"
_HLO_PLANE = "/host:metadata"


@dataclass(frozen=True, slots=True)
class RawEvent:
    """One event as it was written down.

    Attributes:
        name: for an operation of TensorFlow on the host `path/in/the/graph:Type`.
        start, end: seconds since the capture began.
        stats: what is noted about it, for example `step_num` or `hlo_op`.
    """

    name: str
    start: float
    end: float
    stats: dict[str, Any]


@dataclass(frozen=True)
class RawLine:
    """The events of one thread of the host or one stream of an accelerator.

    Attributes:
        plane: "/host:CPU", "/device:GPU:0", ...
        name: of the thread or stream.
        events: as written, not sorted.
    """

    plane: str
    name: str
    events: list[RawEvent]


@dataclass(frozen=True)
class RawTrace:
    """All that a file holds.

    Attributes:
        path: of the file.
        lines: of all planes.
        modules: what XLA compiled, as `HloModuleProto`, by the id of the program.
        warnings: of the profiler, for example that its buffer was full.
    """

    path: Path
    lines: list[RawLine]
    modules: dict[int, Any]
    warnings: list[str]


def find_trace(path: str | os.PathLike[str]) -> Path:
    """The newest trace file in a folder, at any depth, or the file itself.

    Raises:
        MissingFileError: there is none.
    """
    path = Path(path)
    if path.is_file():
        return path
    if not path.is_dir():
        raise MissingFileError(
            f"There is no {path}; expected a {_SUFFIX} file, or a folder with one, such as TensorBoard's --logdir."
        )
    found = sorted(path.rglob(f"*{_SUFFIX}"), key=lambda file: (file.stat().st_mtime, file))
    if not found:
        raise MissingFileError(
            f"{path} holds no trace: no file in it, or in the folders below, ends in {_SUFFIX}. Capture one with "
            "`bytenet profile PRESET --out FOLDER` or with the profile_batch of Keras's TensorBoard callback."
        )
    return found[-1]


def capture_notes(trace: Path) -> dict[str, Any]:
    """What is noted of how a trace file was captured; nothing if it was captured elsewhere."""
    for folder in list(trace.parents)[:4]:  # TensorBoard's FOLDER/plugins/profile/TIME/HOST.xplane.pb, or copied out
        notes = folder / CAPTURE_FILE
        if notes.is_file():
            try:
                return dict(json.loads(notes.read_text(encoding="utf-8")))
            except ValueError:
                return {}
    return {}


def read_trace_file(path: str | os.PathLike[str]) -> RawTrace:
    """Read a trace file, or the newest one in a folder.

    Raises:
        MissingFileError: there is none.
        InputError: it is damaged or holds no events.
    """
    from google.protobuf.message import DecodeError
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    file = find_trace(path)
    space = xplane_pb2.XSpace()
    try:
        space.ParseFromString(file.read_bytes())
        lines = [line for plane in space.planes if plane.name != _HLO_PLANE for line in _lines(plane)]
        modules = {
            program: module for plane in space.planes if plane.name == _HLO_PLANE for program, module in _modules(plane)
        }
    except (DecodeError, KeyError) as error:
        raise InputError(
            f"{file} cannot be read as a trace: it is damaged, cut off, or no {_SUFFIX} file of TensorFlow's profiler. "
            "Capture it again."
        ) from error
    if not any(line.events for line in lines):
        told = f" The profiler says: {'; '.join(space.errors)}." if space.errors else ""
        raise InputError(
            f"{file} holds no events.{told} The profiler must be started before the steps and stopped after them, and "
            "only one can run at a time."
        )
    return RawTrace(file, lines, modules, [*space.errors, *space.warnings])


def _lines(plane) -> Iterator[RawLine]:
    names = {key: metadata.name for key, metadata in plane.stat_metadata.items()}
    events = {key: (metadata.name, _stats(metadata.stats, names)) for key, metadata in plane.event_metadata.items()}
    for line in plane.lines:
        began = line.timestamp_ns * 1e-9
        read = []
        for event in line.events:
            name, shared = events[event.metadata_id]
            start = began + event.offset_ps * 1e-12
            stats = shared | _stats(event.stats, names) if event.stats else shared
            read.append(RawEvent(name, start, start + event.duration_ps * 1e-12, stats))
        yield RawLine(plane.name, line.display_name or line.name, read)


def _stats(stats, names: dict[int, str]) -> dict[str, Any]:
    values = {}
    for stat in stats:
        kind = stat.WhichOneof("value")
        value = getattr(stat, kind) if kind else None
        values[names[stat.metadata_id]] = names.get(value, "") if kind == "ref_value" else value
    return values


def _modules(plane) -> Iterator[tuple[int, Any]]:
    from tensorflow.compiler.xla.service import hlo_pb2

    for program, metadata in plane.event_metadata.items():
        for stat in metadata.stats:
            proto = hlo_pb2.HloProto()
            proto.ParseFromString(stat.bytes_value)
            yield program, proto.hlo_module
