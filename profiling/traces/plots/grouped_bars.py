"""The picture of an average step: bars of groups, one bar for each device and level."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytenet.picture_sizes import SMALL, WIDTH
from bytenet.profiling.traces.breakdown_values import Breakdown, DeviceTime
from bytenet.profiling.traces.grouping import LEVELS
from bytenet.profiling.traces.plots.style import TINY, colour_of, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTER_WIDTH = 0.6  # over the size of the letters
_LEAST_SHARE_IN_LEGEND = 0.005


@dataclass(frozen=True)
class KnownStep:
    """A step on another machine, to be drawn beside a breakdown. Only some sums are known.

    Attributes:
        machine: the other machine.
        seconds: seconds by group. Their sum is the time in which a device was busy.
        step_seconds: duration of the step.
        words: text beside the bar.
    """

    machine: str
    seconds: Mapping[str, float]
    step_seconds: float
    words: str = ""

    @property
    def text(self) -> str:
        """What is known, in one line."""
        return f"{self.machine}: busy {sum(self.seconds.values()):.3g} s of a step of {self.step_seconds:.3g} s"


def plot_grouped(result: Breakdown, path: str | os.PathLike[str]) -> None:
    """Draw an average step as bars, one for each device and level, with the seconds of the groups end to end.

    A line marks the end of the step. The space between a bar and the line is idle time. The percentage of a group is
    its share of the busy time, which is the length of the bar.

    Args:
        result: from `breakdown`.
        path: path of the picture; its suffix decides the format.

    Reference:
        Madsen 2017, figure 3.3.6.
    """
    draw_grouped(result.devices, result.step_seconds, path)


def draw_grouped(
    devices: Sequence[DeviceTime], step_seconds: float, path: str | os.PathLike[str], beside: KnownStep | None = None
) -> None:
    """Draw devices of a breakdown; see `plot_grouped`.

    Args:
        devices: the devices.
        step_seconds: mean duration of a step.
        path: path of the picture.
        beside: a step on another machine. It is drawn below the devices, on an axis of its own.
    """
    from matplotlib.figure import Figure

    heights = [len(LEVELS)] * len(devices) + [1] * (beside is not None)
    figure = Figure(figsize=(WIDTH, 0.7 + 0.42 * sum(heights) + 0.75 * len(heights)), layout="constrained")
    # A panel of one bar needs more height for a bar than a panel of four: its title is as high.
    all_axes = figure.subplots(len(heights), height_ratios=[height + 0.2 for height in heights], squeeze=False)[:, 0]
    unlabelled: dict[str, Any] = {}
    for device, axes in zip(devices, all_axes, strict=False):
        _draw_device(axes, device, 1e3 * step_seconds, unlabelled)
    if beside is not None:
        for axes in all_axes[:-1]:
            axes.set_title(f"here, {axes.get_title()}", fontsize="medium")
        _draw_beside(all_axes[-1], beside)
    all_axes[-1].set_xlabel(
        "milliseconds per step, groups in alphabetical order; the black line is the end of the step\n"
        "percentages are of the busy time"
    )
    save(figure, path, legend=list(unlabelled.values()))


def _draw_device(axes: "Axes", device: DeviceTime, step: float, unlabelled: dict[str, Any]) -> None:
    """Draw a bar for each level of a step of `step` milliseconds.

    Groups that are too narrow for their names are added to `unlabelled`, for the legend.
    """
    from matplotlib.patches import Patch

    for row, level in enumerate(LEVELS):
        left = 0.0
        for group in sorted(device.level(level), key=lambda group: group.group):
            (name,), width = group.group, 1e3 * group.seconds
            axes.barh(row, width, 0.86, left=left, color=colour_of(name), edgecolor="white", linewidth=0.5)
            if width / step > _share_of_text(name):
                text = f"{name}\n{group.share:.0%}"
                axes.text(left + width / 2, row, text, ha="center", va="center", fontsize=TINY)
            elif group.share >= _LEAST_SHARE_IN_LEGEND:
                unlabelled.setdefault(name, Patch(color=colour_of(name), label=name))
            left += width
    axes.set_yticks(range(len(LEVELS)), LEVELS)
    _finish(axes, len(LEVELS), step)
    share = device.busy_seconds * 1e3 / step
    axes.set_title(f"{device.device}: busy {share:.0%} of {step:,.0f} ms", fontsize="medium")


def _draw_beside(axes: "Axes", known: KnownStep) -> None:
    left, step = 0.0, 1e3 * known.step_seconds
    for name, seconds in known.seconds.items():
        axes.barh(0, 1e3 * seconds, 0.86, left=left, color=colour_of(name), edgecolor="white", linewidth=0.5)
        left += 1e3 * seconds
    axes.text(left + 0.01 * step, 0, known.words, va="center", fontsize=SMALL)
    axes.set_yticks([])
    _finish(axes, 1, step)
    axes.set_title(known.text, fontsize="medium")


def _finish(axes: "Axes", num_bars: int, step: float) -> None:
    axes.axvline(step, color="black", linewidth=1)
    axes.set(ylim=(num_bars - 0.5, -0.5), xlim=(0, 1.02 * step))


def _share_of_text(name: str) -> float:
    """Width of a group's name as a share of the width of the picture."""
    return (_LETTER_WIDTH * len(name) + 1) * TINY / (0.9 * 72 * WIDTH)
