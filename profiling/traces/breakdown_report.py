"""Writes a breakdown: as text, JSON and CSV, and with the two pictures."""

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from bytenet.files import write_text_atomic
from bytenet.profiling.traces.breakdown_values import Breakdown, DeviceTime, GroupTime
from bytenet.profiling.traces.grouping import LEVELS
from bytenet.profiling.traces.operations import Trace
from bytenet.profiling.traces.plots import plot_grouped, plot_timeline

_TITLES = {
    ("pass",): "pass (level 0)",
    ("half",): "half (level 1)",
    ("part",): "part (level 2)",
    ("kind",): "kind (level 3)",
}
CSV_COLUMNS = ("device", *LEVELS, "seconds", "share_of_busy", "summed_seconds", "executions")


def to_text(result: Breakdown) -> str:
    """Tables of an average step, in milliseconds."""
    lines = [_heading(result)]
    for device in result.devices:
        lines += ["", *_device(device, result.step_seconds)]
    lines += ["", *_gaps(result)]
    return "\n".join(lines) + "\n"


def to_json(result: Breakdown) -> str:
    """All values of a breakdown."""
    return json.dumps(result.to_dict(), indent=2, default=str) + "\n"


def to_csv(result: Breakdown) -> str:
    """One line for each device and combination of groups. Every other table is a sum over these lines."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for device in result.devices:
        for group in device.groups:
            writer.writerow([
                device.device, *group.group, f"{group.seconds:.9f}", f"{group.share:.6f}",
                f"{group.summed_seconds:.9f}", f"{group.executions:g}",
            ])  # fmt: skip
    return buffer.getvalue()


def save_report(trace: Trace, result: Breakdown, folder: str | os.PathLike[str], name: str) -> list[Path]:
    """Write the tables and the pictures: NAME.txt, NAME.json, NAME.csv, NAME-timeline.png and NAME-grouped.png.

    Returns:
        The paths of the files, in this order.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for suffix, text in ((".txt", to_text(result)), (".json", to_json(result)), (".csv", to_csv(result))):
        paths.append(folder / f"{name}{suffix}")
        write_text_atomic(paths[-1], text)
    paths += [folder / f"{name}-timeline.png", folder / f"{name}-grouped.png"]
    plot_timeline(trace, paths[-2])
    plot_grouped(result, paths[-1])
    return paths


def _heading(result: Breakdown) -> str:
    what = result.capture.get("what", "trace")
    compiled = "compiled with XLA" if result.is_compiled else "plain graph"
    step, steps = _words_for_steps(result)
    numbers = [number for number, _ in result.steps]
    which = f"{steps} {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"{step} {numbers[0]}"
    text = f"{result.trace}\n{what}, {compiled}, {which}: {_ms(result.step_seconds)} ms per {step}"
    shapes = sorted({tuple(shape) for shape in result.capture.get("batch_shapes", ())})
    if shapes:
        text += f"; batches of {', '.join(' x '.join(map(str, shape)) for shape in shapes)}"
    if before := result.capture.get("settled_seconds_before"):
        text += f"; {_ms(before)} ms (median of each shape) before the profiler was on"
    if characters := result.capture.get("characters"):
        sentences = shapes[0][0] if shapes else 1
        text += f"; {_ms(result.step_seconds / (sentences * characters))} ms per character"
    return text


def _words_for_steps(result: Breakdown) -> tuple[str, str]:
    """What a step of the trace is called, and several."""
    return ("search", "searches") if result.capture.get("what") == "decoding" else ("step", "steps")


def _device(device: DeviceTime, step_seconds: float) -> Iterable[str]:
    if not device.busy_seconds:
        yield f"{device.device}: no work within the steps"
        return
    yield (
        f"{device.device}: busy {_ms(device.busy_seconds)} ms ({device.busy_seconds / step_seconds:.0%}), idle "
        f"{_ms(device.idle_seconds)} ms; {device.threads:.2f} threads or streams at work while busy"
    )
    for levels, title in _TITLES.items():
        yield ""
        yield from _table(title, device.level(*levels))
    yield ""
    yield from _cross(device, columns="pass", rows="kind")
    yield ""
    yield from _table("top operations, those of all blocks together", device.top)


def _table(title: str, groups: Sequence[GroupTime]) -> Iterable[str]:
    names = ["  ".join(group.group) for group in groups]
    width = min(max(len(title), *map(len, names)), 90)
    yield f"{title:{width}}  {'ms':>9}  {'share':>6}  {'summed ms':>9}  {'runs':>6}"
    for name, group in zip(names, groups, strict=True):
        name = name if len(name) <= width else f"...{name[3 - width :]}"
        yield (
            f"{name:{width}}  {_ms(group.seconds):>9}  {group.share:6.1%}  {_ms(group.summed_seconds):>9}  "
            f"{group.executions:6.0f}"
        )


def _cross(device: DeviceTime, columns: str, rows: str) -> Iterable[str]:
    """The groups of two levels against each other, in milliseconds."""
    across = [group.group[0] for group in device.level(columns)]
    down = [group.group[0] for group in device.level(rows)]
    values = {group.group: group.seconds for group in device.level(columns, rows)}
    width = max(len(rows), *map(len, down))
    yield f"{rows + ', ms':{width}}" + "".join(f"  {name:>10}" for name in across)
    for name in down:
        cells = (_ms(values[key]) if (key := (column, name)) in values else "" for column in across)
        yield f"{name:{width}}" + "".join(f"  {cell:>10}" for cell in cells)


def _gaps(result: Breakdown) -> Iterable[str]:
    gaps = result.gaps
    _, steps = _words_for_steps(result)
    yield "what the numbers do not cover:"
    yield (
        f"  {gaps.unnamed:.1%} of the busy time is runtime: scheduling, operations too cheap for the profiler to "
        "record, and work without a name"
    )
    yield f"  {gaps.ungrouped:.1%} has a name that belongs to no group"
    if gaps.python is None:
        yield f"  the time of Python outside of TensorFlow is not known: the trace has no such calls within the {steps}"
    else:
        yield f"  {gaps.python:.1%} of the time of the {steps} is Python outside of TensorFlow"
    if before := result.capture.get("settled_seconds_before"):
        change = result.step_seconds / before - 1
        yield f"  {steps} were {abs(change):.0%} {'faster' if change < 0 else 'slower'} with the profiler"
    if result.is_compiled:
        mixed = ", ".join(f"{level} {gaps.mixed[level]:.0%}" for level in LEVELS)
        misplaced = ", ".join(f"{level} {gaps.misplaced[level]:.1%}" for level in LEVELS)
        yield f"  {gaps.fused:.0%} of the busy time is in instructions that XLA fused from several operations"
        yield f"  in instructions of several groups, counted for the largest group: {mixed}"
        yield f"  the part of it that belongs to other groups, estimated by elements: {misplaced}"
    if not result.has_steps:
        yield "  the trace marks no steps, so the whole capture counts as one step"
    for warning in result.warnings:
        yield f"  the profiler says: {warning}"


def _ms(seconds: float) -> str:
    value = 1000 * seconds
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}" if value >= 0.001 else f"{value:.2g}"
