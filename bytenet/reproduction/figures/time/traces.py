"""Figures 3.3.4, 3.3.6, 3.4.3, 3.5.5, D.1.1, D.1.2, D.2.3 and D.3.2: where the time of a training step goes.

`bytenet profile` makes each profile in a process of its own, because a CPU can only be split into devices when
TensorFlow starts. Profiles are kept beside the trainings, so that the raw and the grouped picture of a model show the
same steps.
"""

from collections.abc import Callable
from pathlib import Path
from statistics import fmean

from bytenet.profiling.traces.breakdown import DeviceTime
from bytenet.profiling.traces.plots import draw_grouped, draw_timeline, timeline
from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.judging import compare_exact
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import number_in, text_in
from bytenet.reproduction.figures.time.captures import THESIS_DEVICES, Captured
from bytenet.reproduction.figures.time.trace_tables import (
    devices_of,
    grouped_table,
    models_devices,
    timeline_of,
    timeline_table,
)
from bytenet.reproduction.figures.time.trace_verdicts import backward_share, cost_of_part, largest_part, share_of_parts

_DIFFERS: dict[Scale, tuple[str, ...]] = {
    "smoke": (
        "text: number words (NewsTest 2014)", "model.dim 8 (400)", "devices: logical CPUs (GPUs)",
        "data.bucketing none (histogram)",
    ),
    "cpu": (
        "text: pairs of NewsTest 2014 of up to 80 characters (all)", "devices: 1 and 2 logical CPUs (1 and 4 GPUs)",
        "model.dim 128, Simplified 64 (400, Simplified 200)", "data.bucketing none (histogram)",
    ),
}  # fmt: skip


def _busy_shares(table: Table) -> dict[str, float]:
    """By device, the share of the step in which it works."""
    return {text_in(row, "device"): number_in(row, "device_busy_ms") / number_in(row, "step_ms") for row in table}


def _busy_text(table: Table) -> str:
    shares = ", ".join(f"{device} {share:.0%}" for device, share in _busy_shares(table).items())
    return f"here, busy other than with communication: {shares} of {table[0]['step_ms']:,.0f} ms"


def _raw(captured: Captured, name: str, title: str, thesis: str) -> Experiment:
    """An experiment with the picture of a raw trace."""
    idle = captured.of_thesis.idle

    def measure(work: Work) -> Table:
        from bytenet.profiling.traces.trace import read_trace

        return timeline_table(timeline(read_trace(captured.trace_folder(work))))

    def verdicts(table: Table, scale: Scale) -> list[Verdict]:
        busy = _busy_shares(table)
        on_gpu = any(device.startswith("GPU") for device in busy)
        quantity = "share of a step in which a device waits or communicates"
        measured = fmean(1 - busy[device] for device in models_devices(list(busy)))
        note = "the thesis's is read off its figures: busy seconds of the trace, and seconds per step"
        if on_gpu:
            return [compare_exact(quantity, idle, measured, tolerance=0.05, note=note)]
        note += "; logical CPUs share cores and memory: there are no transfers to wait for"
        return [Verdict(quantity=quantity, printed=idle, measured=measured, note=note)]

    def plot(table: Table, path: Path) -> None:
        draw_timeline(timeline_of(table), path, [_busy_text(table), captured.known_step.text])

    return _experiment(name, title, thesis, measure, verdicts, plot)


def _grouped(
    captured: Captured, name: str, title: str, thesis: str, *judges: Callable[[list[DeviceTime]], Verdict]
) -> Experiment:
    def measure(work: Work) -> Table:
        from bytenet.profiling.traces.breakdown import breakdown
        from bytenet.profiling.traces.trace import read_trace

        return grouped_table(breakdown(read_trace(captured.trace_folder(work))))

    def verdicts(table: Table, scale: Scale) -> list[Verdict]:
        devices = {device.device: device for device in devices_of(table)}
        of_model = [devices[name] for name in models_devices(list(devices))]
        judged = [judge(of_model) for judge in judges]
        on_cpu = of_model[0].device.startswith("CPU")
        return [verdict.unjudged("CPUs, not GPUs") if on_cpu else verdict for verdict in judged]

    def plot(table: Table, path: Path) -> None:
        draw_grouped(devices_of(table), number_in(table[0], "step_seconds"), path, captured.known_step)

    return _experiment(name, title, thesis, measure, verdicts, plot)


def _experiment(name: str, title: str, thesis: str, measure, verdicts, plot) -> Experiment:
    return Experiment(
        name=name, title=title, thesis=thesis, needs=_NEEDS, basis=_BASIS, measure=measure, verdicts=verdicts,
        plot=plot, differs=_DIFFERS,
    )  # fmt: skip


_BASIS = Basis("measured, other hardware", "d = 128, 80 characters")
_NEEDS = Needs(
    corpus="NewsTest 2014",
    time={
        "smoke": "15 s, on generated number words",
        "cpu": "1 min a model; two logical CPUs for 4 GPUs, pairs of up to 80 characters, width 128",
        "thesis": "4,500 steps on 1 or 4 GPUs; not measured",
    },
)
_BACKWARD_SHARES: dict[int, float] = thesis_numbers("backward_share")
_ONE, _FOUR = Captured("bytenet", 1), Captured("bytenet", THESIS_DEVICES)
_SIMPLIFIED, _SELU = Captured("simplified", THESIS_DEVICES), Captured("selu", THESIS_DEVICES)
EXPERIMENTS = (
    _raw(
        _FOUR, "fig-3.3.4", "Raw profile of ByteNet, in the thesis on 4 GPUs",
        "Operations of one step on the streams of four GPUs. Most of it is waiting. The text calls this profile likely "
        "an extreme case. By the figures the GPUs are busy for .33 s of a step of 1.15 s.",
    ),
    _grouped(
        _FOUR, "fig-3.3.6", "Grouped profile of ByteNet, in the thesis on 4 GPUs",
        "The same operations summed by pass, half of the model and part of a block: .33 s a GPU, .23 s of it backward.",
        backward_share(_BACKWARD_SHARES[4]),
        share_of_parts(
            ("pre-normalization", "conv-dilated", "reduce-dim"),
            "most of the time without waiting: these layers contain normalisation and activation",
            "result-bytenet.tex:225",
        ),
    ),
    _grouped(
        _SIMPLIFIED, "fig-3.4.3", "Grouped profile of the Simplified ByteNet, in the thesis on 4 GPUs",
        "By the figure about .13 s a GPU; pre-normalization takes about three quarters of it.",
        largest_part("pre-normalization", "pre-normalization, about .75"),
    ),
    _grouped(
        _SELU, "fig-3.5.5", "Grouped profile of the SELU ByteNet, in the thesis on 4 GPUs",
        "By the figure about .14 s a GPU; without normalisation, the dilated convolutions take the largest part.",
        largest_part("conv-dilated", "conv-dilated"),
        cost_of_part(
            "pre-normalization", "recover-dim", "the SELU activation uses an unreasonable amount of time"
        ),
    ),
    _raw(
        _ONE, "fig-d.1.1", "Raw profile of ByteNet, in the thesis on 1 GPU",
        "Operations of one step on the streams of one GPU. By the figure, it is busy for .232 s of a step of .86 s.",
    ),
    _grouped(
        _ONE, "fig-d.1.2", "Grouped profile of ByteNet, in the thesis on 1 GPU",
        "The same operations summed. By the figure, .150 s of .232 s are backward. (The last sentence of the caption "
        "names SELU ByteNet; the data are ByteNet's.)",
        backward_share(_BACKWARD_SHARES[1]),
    ),
    _raw(
        _SIMPLIFIED, "fig-d.2.3", "Raw profile of the Simplified ByteNet, in the thesis on 4 GPUs",
        "As figure 3.3.4. By the figure, busy for about .13 s of a step of .96 s.",
    ),
    _raw(
        _SELU, "fig-d.3.2", "Raw profile of the SELU ByteNet, in the thesis on 4 GPUs",
        "As figure 3.3.4. By the figure, busy for about .14 s of a step of .50 s.",
    ),
)  # fmt: skip
