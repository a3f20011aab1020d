"""Figures 3.3.4, 3.3.6, 3.4.3, 3.5.5, D.1.1, D.1.2, D.2.3 and D.3.2: where the time of a training step goes.

Each is a profile by `bytenet profile`, in a process of its own, since a CPU is split into devices only as TensorFlow
starts. A profile is kept beside the trainings, so that the raw and the grouped picture of a model show the same steps.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bytenet.config import Config, load_config
from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from bytenet.profiling.traces.breakdown import DeviceTime
from bytenet.profiling.traces.plots import KnownStep, draw_grouped, draw_timeline, timeline
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict, compare
from bytenet.reproduction.figures.time.trace_tables import (
    devices_of,
    grouped_table,
    models_devices,
    timeline_of,
    timeline_table,
)
from bytenet.reproduction.figures.time.trace_verdicts import backward_share, cost_of_part, largest_part

BATCH_SIZE = 16
"""Sentences a device."""
_THESIS_DEVICES = 4
_LOGICAL_CPUS = 2
# What the thesis's code does wherever it differs from the defaults. XLA came later.
_THESIS = (
    "model.settings=thesis", "training.loss=sentence", "training.clip_norm=null", "training.jit_compile=false",
    "data.min_length=0", "data.unknown=drop", "evaluation.every_epochs=1000",
)  # fmt: skip
_SCALES: dict[Scale, tuple[str, tuple[str, ...]]] = {
    "smoke": (
        "numbers",
        ("model.dim=8", "model.dilations=[1,2]", "data.num_train=512", "data.num_validation=8", "data.bucketing=none"),
    ),
    "cpu": ("newstest-memorise", ("data.max_length=80", "data.bucketing=none")),
    "thesis": ("newstest-memorise", ("data.max_length=10000", "data.bucketing=histogram")),
}
_CPU_DIMS = {"bytenet": 128, "simplified": 64, "selu": 128}
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
_STEPS: dict[Scale, tuple[str, ...]] = {"smoke": ("--steps", "6:7"), "cpu": (), "thesis": ("--steps", "4500:4500")}


@dataclass(frozen=True)
class Captured:
    """Which steps a picture shows.

    Attributes:
        variant: of the model.
        devices: of the thesis: 1 or 4. Below its scale, two logical CPUs stand in for four.
    """

    variant: str
    devices: int

    def config(self, scale: Scale) -> Config:
        """Of the training."""
        preset, settings = _SCALES[scale]
        kind, count = ("GPU", self.devices) if scale == "thesis" else ("CPU", min(self.devices, _LOGICAL_CPUS))
        if scale == "cpu":
            settings = (*settings, f"model.dim={_CPU_DIMS[self.variant]}")
        names = ",".join(f'"{kind}:{index}"' for index in range(count))
        return load_config(preset, [
            f"model.variant={self.variant}", *_THESIS, *settings,
            f"training.devices=[{names}]", f"data.batch_size={BATCH_SIZE * count}",
        ])  # fmt: skip

    def trace_folder(self, work: Work) -> Path:
        """The folder of the profile, which is made if it is not there.

        Raises:
            InputError: the profile fails, or was made earlier with other settings.
        """
        config = self.config(work.scale)
        folder = work.runs / f"trace-{self.variant}-{self.devices}"
        settings = folder / "config.yaml"
        if settings.is_file():
            if load_config(settings).differences(config):
                raise InputError(f"{folder} was captured with other settings. Remove it, or give another --runs.")
            return folder
        work.say(f"capturing steps of {self.variant} on {', '.join(config.training.devices)} in {folder} ...")
        # Beside its place, so that it is moved there as a whole or not at all.
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder.parent))
        asked = new / settings.name
        write_text_atomic(asked, config.to_yaml())
        command = [sys.executable, "-m", "bytenet", "profile", str(asked), "--out", str(new), *_STEPS[work.scale]]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            shutil.rmtree(new)
            last = done.stderr.rstrip().rpartition("\n")[2] or "it said nothing"
            raise InputError(f"Profiling {self.variant} failed with exit code {done.returncode}: {last}")
        new.rename(folder)
        return folder


# Of one card in the thesis, off its figures: seconds of a step, those it is busy with by group, and a word on these.
_THESIS_STEPS: dict[tuple[str, int], tuple[float, dict[str, float], str]] = {
    ("bytenet", 1): (0.86, {"backward": 0.150, "other": 0.232 - 0.150}, "backward 0.150 s, then all other"),
    ("bytenet", _THESIS_DEVICES): (1.15, {"backward": 0.23, "other": 0.33 - 0.23}, "backward 0.23 s, then all other"),
    ("simplified", _THESIS_DEVICES): (
        0.96, {"pre-normalization": 0.75 * 0.13, "other": 0.25 * 0.13}, "pre-normalization some ¾, then all other",
    ),
    ("selu", _THESIS_DEVICES): (0.50, {"other": 0.14}, "all groups; conv-dilated takes most"),
}  # fmt: skip


def _known_step(captured: Captured) -> KnownStep:
    """The thesis's step that a picture is of."""
    step, seconds, words = _THESIS_STEPS[captured.variant, captured.devices]
    cards = "1 Titan X" if captured.devices == 1 else f"each of {captured.devices} Titan X"
    return KnownStep(f"thesis, {cards} (cards of 2017)", seconds, step, words)


def _busy_text(table: Table) -> str:
    busy = {row["device"]: row["device_busy_ms"] / row["step_ms"] for row in table}
    told = ", ".join(f"{device} {share:.0%}" for device, share in busy.items())
    return f"here, busy other than with communication: {told} of {table[0]['step_ms']:,.0f} ms"


def _raw(captured: Captured, name: str, title: str, thesis: str, idle: float) -> Experiment:
    """A raw trace; `idle` is the share of a step in which the thesis's devices do nothing, off its figures."""

    def measure(work: Work) -> Table:
        from bytenet.profiling.traces.trace import read_trace

        return timeline_table(timeline(read_trace(captured.trace_folder(work))))

    def verdicts(table: Table, scale: Scale) -> list[Verdict]:
        busy = {row["device"]: row["device_busy_ms"] / row["step_ms"] for row in table}
        on_gpu = any(device.startswith("GPU") for device in busy)
        quantity = "share of a step in which a device waits or communicates"
        measured = fmean(1 - busy[device] for device in models_devices(list(busy)))
        note = "the thesis's is read off its figures: busy seconds of the trace, and seconds a step"
        if on_gpu:
            return [compare(quantity, idle, [measured], tolerance=0.05, note=note)]
        note += "; logical CPUs share cores and memory: there are no transfers to wait for"
        return [Verdict(quantity=quantity, printed=idle, measured=measured, note=note)]

    def plot(table: Table, path: Path) -> None:
        draw_timeline(timeline_of(table), path, [_busy_text(table), _known_step(captured).text])

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
        found = [judge(of_model) for judge in judges]
        on_cpu = of_model[0].device.startswith("CPU")
        return [verdict.unjudged("CPUs, not GPUs") if on_cpu else verdict for verdict in found]

    def plot(table: Table, path: Path) -> None:
        draw_grouped(devices_of(table), table[0]["step_seconds"], path, _known_step(captured))

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
_ONE, _FOUR = Captured("bytenet", 1), Captured("bytenet", _THESIS_DEVICES)
_SIMPLIFIED, _SELU = Captured("simplified", _THESIS_DEVICES), Captured("selu", _THESIS_DEVICES)
EXPERIMENTS = (
    _raw(
        _FOUR, "fig-3.3.4", "Raw profile of ByteNet on 4 GPUs",
        "Operations of one step on the streams of four GPUs. Most of it is waiting; 37 % is waiting for data "
        "transfer. By the figures the GPUs are busy for .33 s of a step of 1.15 s.",
        idle=0.71,
    ),
    _grouped(
        _FOUR, "fig-3.3.6", "Grouped profile of ByteNet on 4 GPUs",
        "The same operations summed by pass, half of the model and part of a block: .33 s a GPU, .23 s of it backward.",
        backward_share(0.70),
    ),
    _grouped(
        _SIMPLIFIED, "fig-3.4.3", "Grouped profile of the Simplified ByteNet on 4 GPUs",
        "By the figure about .13 s a GPU; pre-normalization takes about three quarters of it.",
        largest_part("pre-normalization", "pre-normalization, about .75"),
    ),
    _grouped(
        _SELU, "fig-3.5.5", "Grouped profile of the SELU ByteNet on 4 GPUs",
        "By the figure about .14 s a GPU; without normalisation, the dilated convolutions take the largest part.",
        largest_part("conv-dilated", "conv-dilated"),
        cost_of_part(
            "pre-normalization", "recover-dim", "the SELU activation uses an unreasonable amount of time"
        ),
    ),
    _raw(
        _ONE, "fig-d.1.1", "Raw profile of ByteNet on 1 GPU",
        "Operations of one step on the streams of one GPU, busy for .232 s of a step of .86 s.",
        idle=0.73,
    ),
    _grouped(
        _ONE, "fig-d.1.2", "Grouped profile of ByteNet on 1 GPU",
        "The same operations summed: .150 s of .232 s are backward. (The last sentence of the caption names SELU "
        "ByteNet; the data are ByteNet's.)",
        backward_share(0.65),
    ),
    _raw(
        _SIMPLIFIED, "fig-d.2.3", "Raw profile of the Simplified ByteNet on 4 GPUs",
        "As figure 3.3.4: busy for about .13 s of a step of .96 s.",
        idle=0.86,
    ),
    _raw(
        _SELU, "fig-d.3.2", "Raw profile of the SELU ByteNet on 4 GPUs",
        "As figure 3.3.4: busy for about .14 s of a step of .50 s.",
        idle=0.72,
    ),
)  # fmt: skip
