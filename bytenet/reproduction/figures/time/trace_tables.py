"""Tables of traces, and timelines read back from tables."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bytenet.profiling.traces.breakdown import Breakdown, DeviceTime, GroupTime
from bytenet.profiling.traces.grouping import LEVELS
from bytenet.profiling.traces.intervals import union_seconds
from bytenet.profiling.traces.plots import Span, Timeline
from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.figures.shared.cells import integer_in, number_in, rows_where, text_in, texts_in

MOST_ROWS = 3000
"""Most rectangles in a raw picture; nobody could tell more of them apart."""
COMMUNICATION = "communication"
"""The kind of the operations in which devices exchange values, or wait for each other to do so."""
SHARED_STATISTICS = "Devices exchange the statistics of a batch here; the thesis's did not"
"""A note to verdicts on parts of the time, to which normalisation on several devices adds."""


def timeline_table(shown: Timeline) -> Table:
    """One row per rectangle, at most `MOST_ROWS`. Each row repeats the values of its step and device.

    A device is busy if it does anything but communicate. Devices that communicate mostly wait for each other.
    """
    working: dict[str, list[Span]] = {span.device: [] for span in shown.spans}
    for span in shown.spans:
        if span.kind != COMMUNICATION:
            working[span.device].append(span)
    busy = {device: busy_ms(spans) for device, spans in working.items()}
    return [
        {
            **span._asdict(),
            "device_busy_ms": busy[span.device],
            "step": shown.step,
            "step_ms": shown.milliseconds,
            "threads_left_out": shown.left_out,
        }
        for span in thinned(shown.spans, shown.milliseconds)
    ]


def busy_ms(spans: Sequence[Span]) -> float:
    starts = np.array([span.start_ms for span in spans])
    return float(union_seconds(starts, starts + [span.duration_ms for span in spans]))


def timeline_of(table: Table) -> Timeline:
    """The timeline from which `timeline_table` made the table."""
    spans = [
        Span(
            text_in(row, "device"), text_in(row, "thread"), number_in(row, "start_ms"), number_in(row, "duration_ms"),
            text_in(row, "kind"),
        )
        for row in table
    ]  # fmt: skip
    first = table[0]
    return Timeline(
        integer_in(first, "step"), number_in(first, "step_ms"), spans, integer_in(first, "threads_left_out")
    )


def thinned(spans: Sequence[Span], milliseconds: float, most: int = MOST_ROWS) -> list[Span]:
    """At most `most` spans that look the same in a picture.

    Time is cut into equal pieces that are too short to be seen. Each piece of a thread gets the kind that takes most of
    its time.

    Args:
        spans: spans of one step, in order.
        milliseconds: length of the step.
        most: number of spans to keep; above the number of threads.
    """
    pieces = 16384
    kept = list(spans)
    while len(kept) > most:
        kept = _in_pieces(spans, milliseconds / pieces, pieces)
        pieces //= 2
    return kept


def _in_pieces(spans: Sequence[Span], width: float, pieces: int) -> list[Span]:
    kinds = ["", *sorted({span.kind for span in spans})]  # "" is idle
    times: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros((len(kinds), pieces)))
    for span in spans:
        time, end = times[span.device, span.thread], span.start_ms + span.duration_ms
        first, last = int(span.start_ms / width), min(int(end / width), pieces - 1)
        for piece in range(first, last + 1):
            inside = min(end, (piece + 1) * width) - max(span.start_ms, piece * width)
            time[kinds.index(span.kind), piece] += inside
    thinned_spans = []
    for (device, thread), time in times.items():
        time[0] = width - time.sum(axis=0)
        winner = time.argmax(axis=0)
        bounds = [0, *(1 + np.flatnonzero(np.diff(winner))), pieces]
        for start, end in pairwise(bounds):
            if winner[start]:
                kind = kinds[winner[start]]
                thinned_spans.append(Span(device, thread, float(start * width), float((end - start) * width), kind))
    return thinned_spans


def grouped_table(result: Breakdown) -> Table:
    """One row per device and combination of groups, in seconds of an average step."""
    return [
        {
            "device": device.device,
            **dict(zip(LEVELS, group.group, strict=True)),
            "seconds": group.seconds,
            "summed_seconds": group.summed_seconds,
            "step_seconds": result.step_seconds,
        }
        for device in result.devices
        for group in device.groups
    ]


def devices_of(table: Table) -> list[DeviceTime]:
    """The devices from which `grouped_table` made the table, without their threads and operations."""
    devices = []
    for name in texts_in(table, "device"):
        rows = rows_where(table, device=name)
        busy = sum(number_in(row, "seconds") for row in rows)
        groups = [
            GroupTime(
                tuple(text_in(row, level) for level in LEVELS), number_in(row, "seconds"),
                number_in(row, "seconds") / busy, number_in(row, "summed_seconds"), 0,
            )
            for row in rows
        ]  # fmt: skip
        idle = max(0.0, number_in(rows[0], "step_seconds") - busy)
        devices.append(DeviceTime(name, busy, idle, 0.0, groups, []))
    return devices


def models_devices(names: Sequence[str]) -> list[str]:
    """The devices of the model. If there are GPUs, the CPU only feeds them."""
    return [name for name in names if name.startswith("GPU")] or list(names)
