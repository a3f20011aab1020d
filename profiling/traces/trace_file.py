"""The file that TensorFlow's profiler writes (`*.xplane.pb`), as plain values. Only this module knows its format.

TensorFlow contains the definition of the format, so reading needs no other package. TensorBoard needs one to show the
same file (`bytenet.profiling.traces.tensorboard`).
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from bytenet.errors import InputError, MissingFileError

CAPTURE_FILE = "capture.json"
"""Name of the file with the notes of `bytenet.profiling.traces.capture`. It lies in TensorBoard's log folder."""
_SUFFIX = ".xplane.pb"
_HLO_PLANE = "/host:metadata"


@dataclass(frozen=True, slots=True)
class RawEvent:
    """One recorded event.

    Attributes:
        name: `path/in/the/graph:Type` for an operation of TensorFlow on the host.
        start, end: seconds since the capture began.
        stats: recorded values by name, for example `step_num` or `hlo_op`.
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
        name: name of the thread or stream.
        events: in the order of the file, which is not sorted by time.
    """

    plane: str
    name: str
    events: list[RawEvent]


@dataclass(frozen=True)
class RawTrace:
    """The contents of a file.

    Attributes:
        path: path of the file.
        lines: threads and streams of all planes.
        modules: programs that XLA compiled, as `HloModuleProto`, by id.
        warnings: messages of the profiler, for example that its buffer was full.
    """

    path: Path
    lines: list[RawLine]
    modules: dict[int, Any]
    warnings: list[str]


def find_trace(path: str | os.PathLike[str]) -> Path:
    """The newest trace file in a folder, at any depth; or the file itself if `path` is a file.

    Raises:
        MissingFileError: there is no such path, or no trace file in it.
    """
    path = Path(path)
    if path.is_file():
        return path
    if not path.is_dir():
        raise MissingFileError(
            f"There is no {path}. Expected a {_SUFFIX} file, or a folder with one, such as TensorBoard's --logdir."
        )
    files = sorted(path.rglob(f"*{_SUFFIX}"), key=lambda file: (file.stat().st_mtime, file))
    if not files:
        raise MissingFileError(
            f"{path} holds no trace: no file in it or in its subfolders ends in {_SUFFIX}. Capture a trace with "
            "`bytenet profile PRESET --out FOLDER`, or with `profile_batch` of Keras's TensorBoard callback."
        )
    return files[-1]


def capture_notes(trace: Path) -> dict[str, Any]:
    """The notes on how a trace file was captured; empty if another program captured it."""
    for folder in list(trace.parents)[:4]:  # of FOLDER/plugins/profile/TIME/HOST.xplane.pb, or of a copy
        notes = folder / CAPTURE_FILE
        if notes.is_file():
            try:
                values = json.loads(notes.read_text(encoding="utf-8"))
            except ValueError:
                return {}
            return values if isinstance(values, dict) and _are_of(values, trace.relative_to(folder)) else {}
    return {}


def _are_of(notes: dict[str, Any], trace: Path) -> bool:
    """Whether notes are of a trace file. Notes of earlier versions name no file.

    Args:
        notes: of `capture_notes`.
        trace: path of the file in the folder of the notes. Copies may lie in fewer folders than the named file.
    """
    named = PurePosixPath(str(notes.get("trace", trace.as_posix()))).parts
    return named[-len(trace.parts) :] == trace.parts


def read_trace_file(path: str | os.PathLike[str]) -> RawTrace:
    """Read a trace file, or the newest one in a folder.

    Raises:
        MissingFileError: there is no trace file.
        InputError: the file is damaged or holds no events.
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
            f"{file} cannot be read as a trace: it is damaged, incomplete, or not a {_SUFFIX} file of TensorFlow's "
            "profiler. Capture it again."
        ) from error
    if not any(line.events for line in lines):
        errors = f" The profiler says: {'; '.join(space.errors)}." if space.errors else ""
        raise InputError(
            f"{file} holds no events.{errors} Start the profiler before the steps and stop it after them. Only one "
            "profiler can run at a time."
        )
    return RawTrace(file, lines, modules, [*space.errors, *space.warnings])


def _lines(plane: Any) -> Iterator[RawLine]:
    names = {key: metadata.name for key, metadata in plane.stat_metadata.items()}
    events = {key: (metadata.name, _stats(metadata.stats, names)) for key, metadata in plane.event_metadata.items()}
    for line in plane.lines:
        began = line.timestamp_ns * 1e-9
        raw_events = []
        for event in line.events:
            name, shared = events[event.metadata_id]
            start = began + event.offset_ps * 1e-12
            stats = shared | _stats(event.stats, names) if event.stats else shared
            raw_events.append(RawEvent(name, start, start + event.duration_ps * 1e-12, stats))
        yield RawLine(plane.name, line.display_name or line.name, raw_events)


def _stats(stats: Iterable[Any], names: dict[int, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for stat in stats:
        kind = stat.WhichOneof("value")
        if kind == "ref_value":
            values[names[stat.metadata_id]] = names.get(stat.ref_value, "")
        else:
            values[names[stat.metadata_id]] = getattr(stat, kind) if kind else None
    return values


def _modules(plane: Any) -> Iterator[tuple[int, Any]]:
    from tensorflow.compiler.xla.service import hlo_pb2

    for program, metadata in plane.event_metadata.items():
        for stat in metadata.stats:
            proto = hlo_pb2.HloProto()
            proto.ParseFromString(stat.bytes_value)
            yield program, proto.hlo_module
