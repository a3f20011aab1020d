"""Figures 3.3.5, 3.4.2 and 3.5.4: training speed of the three models, in sentence pairs per second."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache

from bytenet.errors import InputError
from bytenet.new_process import in_new_process
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.time.speed_plots import plot_rates
from bytenet.reproduction.figures.time.speed_verdicts import (
    LABELS,
    bytenet_verdicts,
    selu_verdicts,
    simplified_verdicts,
)

BATCH_SIZE = 16
"""Sentence pairs per device, as in the thesis."""
_SETTINGS = ("model.settings=thesis", "training.loss=sentence", "training.clip_norm=null")
_TIME: dict[Scale, str] = {
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


@dataclass(frozen=True)
class _Size:
    """What is measured at a scale.

    Attributes:
        length: ids per sentence, on both sides.
        devices: the two numbers of devices.
        turns: turns per case.
        seconds_a_turn: approximate length of a turn, which has at least one step.
        settings: settings of the models that differ from the thesis's.
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
    "thesis": _Size(152, (1, 4), turns=30, seconds_a_turn=20),  # mean length of its padded batches of NewsTest 2014
}


def measure_in_turns(scale: Scale, variants: Sequence[str]) -> Table:
    """Train the models, each on one device and on several, in turns of a few steps on random sentences.

    Call this in a process that has not started TensorFlow. TensorFlow can only split a CPU into devices at its start.

    Args:
        scale: decides the size of the measurement.
        variants: variants of the model.

    Returns:
        One row per turn and case. Turns with the same number are next to each other in time. `elapsed_seconds` counts
        only the time in which the case itself was trained.
    """
    from bytenet.config import load_config
    from bytenet.profiling.benchmarks.training import measure_training, replica_devices
    from bytenet.profiling.benchmarks.training_case import TrainingCase

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
            "model": cost.variant, "devices": cost.replicas, "kind": device.partition(":")[0],
            "dim": "" if cost.dim is None else cost.dim, "weights": cost.trainable_parameters,
            "batch_size": cost.batch_size, "length": cost.length,
            "turn": turn, "elapsed_seconds": sum(cost.turns[:turn]) * cost.steps_a_turn,
            "observations_a_second": cost.batch_size / cost.turns[turn - 1],
        }
        for turn in range(1, 1 + size.turns) for cost in costs
    ]  # fmt: skip


@cache
def _measured(scale: Scale) -> Table:
    """The measurement, made once for all three figures."""
    try:
        return in_new_process(measure_in_turns, scale, tuple(LABELS))
    except BrokenProcessPool:
        raise InputError(
            "The process that measures the speed ended early. It needs up to 8 GB of memory: free some, try again."
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


EXPERIMENTS = (
    _figure(
        "fig-3.3.5", ("bytenet",), "Training speed of ByteNet on one device and on several",
        "Observations a second against wall-clock time: 18.5 on one GPU and 55.7 on four, where the curves settle. By "
        "comparing the two, the text finds that about 37 % of the time on four GPUs is waiting for data transfer.",
        bytenet_verdicts,
    ),
    _figure(
        "fig-3.4.2", ("bytenet", "simplified"), "Training speed of the Simplified ByteNet and ByteNet",
        "As figure 3.3.5: the text calls the Simplified ByteNet about 20 % faster on one GPU (23.9 observations a "
        "second; 66.6 on four), and says that transfers cost it 40 %.",
        simplified_verdicts,
    ),
    _figure(
        "fig-3.5.4", ("bytenet", "simplified", "selu"), "Training speed of the SELU ByteNet and the other two",
        "As figure 3.3.5: the SELU ByteNet is at least twice as fast as ByteNet (107.6 observations a second on one "
        "GPU, 128 on four).",
        selu_verdicts,
    ),
)  # fmt: skip
