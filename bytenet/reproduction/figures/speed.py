"""Figures 3.3.5, 3.4.2 and 3.5.4: how many sentence pairs a second the three models train on."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from bytenet.errors import InputError
from bytenet.evaluation import smooth
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict, compare, statement, student_t
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save, write_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BATCH_SIZE = 16
"""Sentence pairs a device, as in the thesis."""
ALPHA = 0.1
"""Of the smoothing."""

LABELS = {"bytenet": "ByteNet", "simplified": "Simplified ByteNet", "selu": "SELU ByteNet"}
_SETTINGS = ("model.settings=thesis", "training.loss=sentence", "training.clip_norm=null")

_TIME = {
    "smoke": "40 s",
    "cpu": "4 min for all three, up to 8 GB; two logical CPUs for 4 GPUs, random sentences of 100 characters",
    "thesis": "4 GPUs; not measured",
}
_BASIS = Basis("measured, other hardware", "d = 400, 100 characters")
_TEXT = "text: random sentences of full length (NewsTest 2014)"
_DIFFERS: dict[Scale, tuple[str, ...]] = {
    "smoke": (_TEXT, "devices: logical CPUs that share their cores (1 and 4 GPUs)", "model.dim 8 (400)"),
    "cpu": (_TEXT, "devices: 1 and 2 logical CPUs that share their cores (1 and 4 GPUs)"),
    "thesis": (_TEXT,),
}

# Sentence pairs a second of the thesis, where its curves settle, on one card and on four.
_THESIS_CARDS = (1, 4)
_THESIS_RATES = {"bytenet": (18.5, 55.7), "simplified": (23.9, 66.6), "selu": (107.6, 128.0)}


@dataclass(frozen=True)
class _Size:
    """What is measured at a scale.

    Attributes:
        length: ids of every sentence on both sides.
        devices: counts of them.
        turns: of each case.
        seconds_a_turn: about how long one takes, at least a step.
        settings: of the models, for what is not the thesis's.
    """

    length: int
    devices: tuple[int, int]
    turns: int
    seconds_a_turn: float
    settings: tuple[str, ...] = ()


_SIZES: dict[Scale, _Size] = {
    "smoke": _Size(
        10, (1, 2), turns=3, seconds_a_turn=0, settings=("model.dim=8", "model.num_sets=1", "model.dilations=[1]")
    ),
    "cpu": _Size(100, (1, 2), turns=8, seconds_a_turn=0),
    "thesis": _Size(152, (1, 4), turns=30, seconds_a_turn=20),  # the mean length of its padded batches of NewsTest 2014
}


def measure_in_turns(scale: Scale, variants: Sequence[str]) -> Table:
    """Train the models, each on one device and on several, in turns of a few steps on random sentences.

    To be called in a process in which TensorFlow has not started, since only then can it split a CPU into devices.

    Args:
        scale: how much of it.
        variants: of the model.

    Returns:
        A row for each turn of each case; turns of one number are next to each other in time. Elapsed are the seconds
        in which the case itself was trained.
    """
    from bytenet.config import load_config
    from bytenet.memory_allocator import keep_freed_memory
    from bytenet.profiling.training import TrainingCase, measure_training, replica_devices

    keep_freed_memory()
    size = _SIZES[scale]
    cases = [
        TrainingCase(
            load_config("newstest-memorise", [f"model.variant={variant}", *_SETTINGS, *size.settings]),
            BATCH_SIZE * devices, size.length, jit_compile=False, replicas=devices,
        )
        for variant in variants for devices in size.devices
    ]  # fmt: skip
    costs = measure_training(cases, size.turns, size.seconds_a_turn, say=lambda line: print(line, file=sys.stderr))
    device = (replica_devices(max(size.devices)) or ("CPU",))[0]
    return [
        {
            "model": cost.variant, "devices": cost.replicas, "kind": device.partition(":")[0], "dim": cost.dim,
            "weights": cost.trainable_parameters, "batch_size": cost.batch_size, "length": cost.length,
            "turn": turn, "elapsed_seconds": sum(cost.turns[:turn]) * cost.steps_a_turn,
            "observations_a_second": cost.batch_size / cost.turns[turn - 1],
        }
        for turn in range(1, 1 + size.turns) for cost in costs
    ]  # fmt: skip


def rates(table: Table, model: str, devices: int) -> np.ndarray:
    """Observations a second of each turn."""
    return np.array([
        row["observations_a_second"] for row in table if (row["model"], row["devices"]) == (model, devices)
    ])  # fmt: skip


def _device_counts(table: Table) -> list[int]:
    return sorted({row["devices"] for row in table})


def _of_turns(verdict: Verdict, values: Sequence[float]) -> Verdict:
    """The verdict on the mean of values that are the turns of a single measurement."""
    told = f"the interval is over {len(values)} turns of one measurement"
    note = f"{verdict.note}; {told}" if verdict.note else told
    return replace(verdict, interval=student_t(values), seeds=1, note=note)


def _compare_mean(quantity: str, printed: float, values: Sequence[float], note: str = "") -> Verdict:
    """Compare a value of which more is better; within a tenth it agrees, however much the turns differ."""
    return _of_turns(compare(quantity, printed, [fmean(values)], tolerance=0.1 * printed, note=note), values)


def _judged(table: Table, verdict: Verdict) -> Verdict:
    """The verdict, which is none on CPUs: the thesis's statements are on GPUs."""
    return verdict.unjudged("CPUs, not GPUs") if table[0]["kind"] == "CPU" else verdict


def rate_verdicts(table: Table, model: str) -> list[Verdict]:
    """The thesis's rates beside ours; cards and processors do not compare, so nothing is claimed."""
    found = []
    for devices, cards, printed in zip(_device_counts(table), _THESIS_CARDS, _THESIS_RATES[model], strict=True):
        ours = list(rates(table, model, devices))
        verdict = Verdict(
            quantity=f"{LABELS[model]}, observations a second, {_devices_text(table, devices)}",
            printed=printed, measured=fmean(ours),
            note="another machine" + ("" if devices == cards else f"; the thesis's are {cards} cards"),
        )  # fmt: skip
        found.append(_of_turns(verdict, ours))
    return found


def efficiency_verdict(table: Table, model: str) -> Verdict:
    """How much of several devices comes out, 1 if they are as many times as fast as one."""
    one, several = _device_counts(table)
    single, together = _THESIS_RATES[model]
    ours = list(rates(table, model, several) / (several * rates(table, model, one)))
    quantity = f"{LABELS[model]}, speed of {several} devices over {several} times that of one"
    printed = together / (_THESIS_CARDS[1] * single)
    if table[0]["kind"] != "CPU":
        return _compare_mean(quantity, printed, ours)
    note = f"{several} logical CPUs share the same cores, so more than about 1/{several} is not possible"
    return _of_turns(Verdict(quantity=quantity, printed=printed, measured=fmean(ours), note=note), ours)


def ratio_verdicts(table: Table, model: str, note: str) -> list[Verdict]:
    """How many times ByteNet's rate a model reaches, turn by turn, on one device and on several."""
    found = []
    for devices, theirs, base in zip(
        _device_counts(table), _THESIS_RATES[model], _THESIS_RATES["bytenet"], strict=True
    ):
        ours = list(rates(table, model, devices) / rates(table, "bytenet", devices))
        quantity = f"{LABELS[model]}'s rate over ByteNet's, {_devices_text(table, devices)}"
        more = "; devices exchange the statistics of a batch here, and the thesis's did not" if devices > 1 else ""
        found.append(_judged(table, _compare_mean(quantity, theirs / base, ours, note + more)))
    return found


def _devices_text(table: Table, devices: int) -> str:
    kind = {"CPU": "logical CPU"}.get(table[0]["kind"], table[0]["kind"])
    return f"{devices} {kind}{'s' if devices > 1 else ''}"


def plot_rates(table: Table, path: Path) -> None:
    """Draw observations a second against time, a panel for each number of devices: thin each turn, thick smoothed.

    Dashed are the thesis's rates on its cards. The axis is logarithmic, as cards and processors are far apart.
    """
    from matplotlib.lines import Line2D

    counts, models = _device_counts(table), list(dict.fromkeys(row["model"] for row in table))
    figure = new_figure(3.8)
    row = figure.subplots(1, len(counts), squeeze=False, sharey=True)[0]
    for axes, devices, cards, theirs in zip(row, counts, _THESIS_CARDS, _rates_by_cards(models), strict=True):
        axes.set(yscale="log", xlabel="seconds of the model's training")
        for model in models:
            _draw_rates(axes, table, model, devices)
            axes.axhline(theirs[model], color=_colour(model), linestyle="--", linewidth=1.1)
        axes.set(xlim=(0, None))
        plural = "s" if cards > 1 else ""
        axes.set_title(f"here {_devices_text(table, devices)}; thesis {cards} Titan X card{plural}", fontsize="medium")
        axes.grid(alpha=0.3, which="both")
    _label_rates(row[0])
    for axes, theirs in zip(row, _rates_by_cards(models), strict=True):
        write_beside(axes, [(rate, f"{rate:g}", _colour(model)) for model, rate in theirs.items()])
    styles = {
        "each turn": {"linewidth": 0.8, "alpha": 0.6}, "smoothed": {"linewidth": 1.8},
        "thesis, once warm (cards of 2017)": {"linewidth": 1.1, "linestyle": "--"},
    }  # fmt: skip
    samples = {label: Line2D([], [], color="grey", **style) for label, style in styles.items()}
    legend_below(figure, handles_of(row) | samples)
    save(figure, path)


def _rates_by_cards(models: Sequence[str]) -> list[dict[str, float]]:
    """The thesis's, for each of `_THESIS_CARDS`, by model."""
    return [{model: _THESIS_RATES[model][place] for model in models} for place in range(len(_THESIS_CARDS))]


def _draw_rates(axes: "Axes", table: Table, model: str, devices: int) -> None:
    values = rates(table, model, devices)
    elapsed = [row["elapsed_seconds"] for row in table if (row["model"], row["devices"]) == (model, devices)]
    axes.plot(elapsed, values, color=_colour(model), linewidth=0.8, alpha=0.4)
    axes.plot(elapsed, smooth(values, ALPHA), color=_colour(model), linewidth=1.8, label=f"{LABELS[model]}, here")


def _label_rates(axes: "Axes") -> None:
    """Plain numbers on the logarithmic axis."""
    from matplotlib.ticker import NullFormatter

    low, high = axes.get_ylim()
    ticks = [rate for rate in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if low <= rate <= high]
    axes.set_yticks(ticks, [f"{rate:,}" for rate in ticks])
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set(ylim=(low, high), ylabel="observations (sentence pairs) a second")


def _colour(model: str) -> str:
    """Of a model, the same in all three figures."""
    return f"C{list(LABELS).index(model)}"


@cache
def _measured(scale: Scale) -> Table:
    """One measurement for the three figures, if they are made together."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(measure_in_turns, scale, tuple(LABELS)).result()
        except BrokenProcessPool:
            raise InputError(
                "The process that measures the speed was ended, perhaps for want of memory: it needs up to 8 GB."
            ) from None


def _figure(
    name: str, variants: tuple[str, ...], title: str, thesis: str, verdicts: Callable[[Table, Scale], list[Verdict]]
) -> Experiment:
    def measure(work: Work) -> Table:
        return [row for row in _measured(work.scale) if row["model"] in variants]

    return Experiment(
        name=name, title=title, thesis=thesis, needs=Needs(time=_TIME), basis=_BASIS, measure=measure,
        verdicts=verdicts, plot=plot_rates, differs=_DIFFERS,
    )  # fmt: skip


def bytenet_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    """Of figure 3.3.5."""
    return [*rate_verdicts(table, "bytenet"), efficiency_verdict(table, "bytenet")]


def simplified_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    """Of figure 3.4.2."""
    weights = {row["model"]: row["weights"] for row in table}
    share = weights["simplified"] / weights["bytenet"]
    note = f"it has {share:.3f} of ByteNet's weights; how far that becomes time depends on what else a step costs"
    faster = list(rates(table, "simplified", 1) / rates(table, "bytenet", 1) - 1)
    return [
        _judged(
            table,
            _of_turns(
                statement(
                    "how much faster the Simplified ByteNet is, one device, by the text", "about 20%",
                    0.1 < fmean(faster) < 0.3, fmean(faster), note="as a part of ByteNet's rate",
                    source="result-simple-bytenet.tex:41",
                ),
                faster,
            ),
        ),
        *ratio_verdicts(table, "simplified", note),
        efficiency_verdict(table, "simplified"),
    ]  # fmt: skip


_ARTEFACT = (
    "as we read the thesis's code, its graph also ran the encoder over a test batch in every step of a model with "
    "batch normalisation, which would make ByteNet seem slow; here no model does"
)


def selu_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    """Of figure 3.5.4."""
    found = []
    for devices in _device_counts(table):
        ours = list(rates(table, "selu", devices) / rates(table, "bytenet", devices))
        holds = fmean(ours) >= 2
        verdict = statement(
            f"SELU ByteNet's rate over ByteNet's, {_devices_text(table, devices)}, by the text",
            "at least twice as fast", holds, fmean(ours), note="" if holds else _ARTEFACT,
            contradicts=table[0]["kind"] != "CPU" and scale != "smoke" and not holds,
            source="result-selu-bytenet.tex:64",
        )  # fmt: skip
        found.append(_judged(table, _of_turns(verdict, ours)))
    return [*found, *ratio_verdicts(table, "selu", _ARTEFACT), efficiency_verdict(table, "selu")]


EXPERIMENTS = (
    _figure(
        "fig-3.3.5", ("bytenet",), "Training speed of ByteNet on one device and on several",
        "Observations a second against wall-clock time: 18.5 on one GPU and 55.7 on four, once warm. The rest of what "
        "four GPUs could do, said to be 37 %, is put down to transfers.",
        bytenet_verdicts,
    ),
    _figure(
        "fig-3.4.2", ("bytenet", "simplified"), "Training speed of the Simplified ByteNet and ByteNet",
        "As figure 3.3.5: the Simplified ByteNet is called some 20 % faster (23.9 and 66.6 observations a second), and "
        "loses 40 % to transfers.",
        simplified_verdicts,
    ),
    _figure(
        "fig-3.5.4", ("bytenet", "simplified", "selu"), "Training speed of the SELU ByteNet and the other two",
        "As figure 3.3.5: the SELU ByteNet is at least twice as fast as ByteNet (107.6 observations a second on one "
        "GPU, 128 on four).",
        selu_verdicts,
    ),
)  # fmt: skip
