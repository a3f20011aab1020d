"""Verdicts on profiles."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from bytenet.profiling.traces.breakdown import DeviceTime
from bytenet.reproduction.engine.judging import compare_exact, statement
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.time.trace_tables import COMMUNICATION, SHARED_STATISTICS


def backward_share(printed: float) -> Callable[[list[DeviceTime]], Verdict]:
    """Compares the backward pass's share of the time of both passes."""

    def judge(devices: list[DeviceTime]) -> Verdict:
        seconds = _seconds(devices, "pass")
        share = seconds.get("backward", 0.0) / (seconds.get("forward", 0.0) + seconds.get("backward", 0.0))
        return compare_exact(
            "backward's share of both passes", printed, share, tolerance=0.05,
            note=f"without communication. {SHARED_STATISTICS}" if len(devices) > 1 else "",
        )  # fmt: skip

    return judge


def largest_part(part: str, printed: str) -> Callable[[list[DeviceTime]], Verdict]:
    """Judges whether `part` of the blocks takes the most time, as the thesis says with `printed`."""

    def judge(devices: list[DeviceTime]) -> Verdict:
        seconds = _seconds(devices, "part")
        busy = sum(seconds.values())
        seconds.pop("other", None)
        largest = max(seconds, key=seconds.__getitem__)
        shares = ", ".join(f"{name} {seconds[name] / busy:.2f}" for name in sorted(seconds, key=lambda n: -seconds[n]))
        return statement(
            "the part of the blocks that takes longest", printed, largest == part, largest,
            note=f"shares of the busy time without communication: {shares}. {SHARED_STATISTICS}",
        )  # fmt: skip

    return judge


def cost_of_part(part: str, other: str, printed: str) -> Callable[[list[DeviceTime]], Verdict]:
    """Measures the time of one part of the blocks over another. `printed` is the thesis's statement about it."""

    def judge(devices: list[DeviceTime]) -> Verdict:
        seconds = _seconds(devices, "part")
        return Verdict(
            quantity=f"time of {part} divided by time of {other}", printed=printed,
            measured=seconds[part] / seconds[other],
            source="result-selu-bytenet.tex:75", note="the thesis gives no number",
        )  # fmt: skip

    return judge


def share_of_parts(parts: Sequence[str], printed: str, source: str) -> Callable[[list[DeviceTime]], Verdict]:
    """Measures the share of the time that some parts of the blocks take. `printed` is the thesis's statement on it."""

    def judge(devices: list[DeviceTime]) -> Verdict:
        seconds = _seconds(devices, "part")
        return Verdict(
            quantity=f"share of the busy time in {', '.join(parts)}", printed=printed,
            measured=sum(seconds[part] for part in parts) / sum(seconds.values()), source=source,
            note="without communication; the thesis gives no number",
        )  # fmt: skip

    return judge


def _seconds(devices: list[DeviceTime], level: str) -> dict[str, float]:
    """Seconds of all devices by the groups of a level, without communication."""
    sums: dict[str, float] = defaultdict(float)
    for device in devices:
        for group in device.level(level, "kind"):
            if group.group[1] != COMMUNICATION:
                sums[group.group[0]] += group.seconds
    return dict(sums)
