"""The grid of figures 3.6.1 and 3.6.2: semi-supervised ByteNets on Synthetic Digits, and the thesis's numbers."""

import csv
import math
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bytenet.csv_log import read_csv_log
from bytenet.reproduction.data import read_data
from bytenet.reproduction.engine.experiment import Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.statistics import by_trial
from bytenet.reproduction.figures.shared.cells import integer_in, number_in
from bytenet.reproduction.jobs.scheduler import times_of
from bytenet.reproduction.jobs.training_run import Start, TrainingRun
from bytenet.run_folder import RunFolder

LABELLED = (64, 128, 256)
UNLABELLED = (0, 512, 1024)
WEIGHTS = (0.2, 0.1, 0.01)
TRIALS = 5
#: The settings with which the grid is trained, and their names in verdicts.
SETTINGS = {"thesis": "thesis settings", "default": "defaults"}

# The thesis's common test set. The last model is kept, so the set selects nothing.
TEST_SEED, TEST_SIZE = 2, 1024
# Approximate cost of a training relative to the defaults without unlabelled text. With text, a step has half as many
# pairs, and the text itself costs more.
_COST_OF_TEXT = {"default": 2, "thesis": 5}
_COST_OF_SETTINGS = {"default": 1, "thesis": 2}

_MEASURED_AT_THE_END = ("evaluation.every_epochs=301",)
_SCALES: dict[Scale, tuple[str, ...]] = {
    "smoke": (
        "training.epochs=2", "training.jit_compile=false", "model.dim=8", "model.num_sets=1",
        "semi_supervised.beam_size=2", "evaluation.max_sentences=16", "evaluation.every_epochs=2",
    ),
    "cpu": _MEASURED_AT_THE_END,
    "thesis": _MEASURED_AT_THE_END,
}  # fmt: skip


Rows = Sequence[Mapping[str, float | int | str]]
"""Rows of our results or of the thesis's."""


class Cell(NamedTuple):
    """A point of the grid.

    Attributes:
        labelled: number of pairs.
        unlabelled: number of spelled words without numerals.
        weight: of the likelihood of the unlabelled text, the thesis's lambda.
    """

    labelled: int
    unlabelled: int
    weight: float

    @property
    def without_text(self) -> "Cell":
        """The cell without unlabelled text, which shows the effect of the text. It starts from the same weights."""
        return self._replace(unlabelled=0)


def cells(scale: Scale) -> list[Cell]:
    """All cells of the grid; two of them at the scale "smoke"."""
    if scale == "smoke":
        return [Cell(64, 0, 0.2), Cell(64, 512, 0.2)]
    return [
        Cell(labelled, unlabelled, weight) for labelled in LABELLED for unlabelled in UNLABELLED for weight in WEIGHTS
    ]


def grid_run(
    settings: str, cell: Cell, scale: Scale, name: str = "", more: Sequence[str] = (), starts: tuple[Start, ...] = ()
) -> TrainingRun:
    """The training of a cell.

    Args:
        settings: one of `SETTINGS`.
        cell: a cell of the grid.
        scale: scale of the experiment.
        name: name of a run outside the grid, which has `more` or `starts`.
        more: further settings.
        starts: trainings from which it starts.
    """
    preset = "digits-semi-thesis" if settings == "thesis" else "digits-semi"
    labelled, unlabelled, weight = cell
    overrides = (
        f"data.num_train={labelled}", f"data.num_monolingual={unlabelled or 'null'}",
        f"semi_supervised.source_weight={weight}", f"data.validation_seed={TEST_SEED}",
        f"data.num_validation={TEST_SIZE}", *_SCALES[scale], *more,
    )  # fmt: skip
    kind = f"semi-{settings}, {labelled} pairs" + (", text" if unlabelled else "")
    return TrainingRun(
        name or f"semi-{settings}-{labelled}-{unlabelled}-{weight}", preset, overrides,
        thesis=None if settings == "thesis" else grid_run("thesis", cell, "thesis"),
        by_seed=partial(_settings_of_trial, weight), starts=starts,
        together=name or kind, cost=labelled * (_COST_OF_TEXT if unlabelled else _COST_OF_SETTINGS)[settings],
    )  # fmt: skip


def _settings_of_trial(weight: float, trial: int) -> tuple[str, ...]:
    """The thesis's seeds of the data, and a seed of the initial weights that depends only on trial and weight.

    So a cell with unlabelled text and its cell without text start from the same weights. The weight has no effect
    without text. Those three cells are three different trainings, as in the thesis.
    """
    return (
        f"data.train_seed={10 * trial}",
        f"data.monolingual_seed={10 * trial + 1}",
        f"training.seed={10 * trial + WEIGHTS.index(weight)}",
    )


def grid_runs(scale: Scale) -> list[TrainingRun]:
    """All trainings of the grid. Trainings that share a compiled model are next to each other."""
    return [grid_run(settings, cell, scale) for settings, cell in _all_cells(scale)]


def grid_labels(scale: Scale) -> list[Row]:
    """The settings and the cell of each of `grid_runs`, in order."""
    return [{"settings": settings, **cell._asdict()} for settings, cell in _all_cells(scale)]


def _all_cells(scale: Scale) -> list[tuple[str, Cell]]:
    return [(settings, cell) for settings in SETTINGS for cell in cells(scale)]


def measure_grid(work: Work, columns: Mapping[str, str]) -> Table:
    """One row per finished training, with `settings`, the cell, `trial` and the requested columns.

    Args:
        work: finds the finished trainings.
        columns: the value to put into each column, by name of the column. Values are "seconds" (of training, from its
            metrics), "wall_seconds" (since the request for the training), "side_by_side" (trainings at a time),
            "step_ms" (median over epochs, without compilation and evaluation), "processor" (its name), and the last
            value of a column of `metrics.csv`, such as "step". Cells without a value are empty.
    """
    rows: Table = []
    for label, run in zip(grid_labels(work.scale), grid_runs(work.scale), strict=True):
        for trial, folder in work.finished(run):
            values = final_values(folder.path) | {"processor": folder.environment()["machine"]["processor"]}
            rows.append(label | {"trial": trial} | {name: values.get(key, "") for name, key in columns.items()})
    return rows


def final_values(folder: Path) -> dict[str, float | str]:
    """The last value of each column in the `metrics.csv` of a finished training, and its times."""
    metrics = read_csv_log(RunFolder(folder).metrics_path)
    values = {name: "" if math.isnan(column[-1]) else column[-1] for name, column in metrics.items()}
    values["step"] = int(metrics["step"][-1])
    steps, seconds = metrics["step"], metrics["seconds"]
    if steps[0] > 0:  # at step 0, the model it starts from was measured
        steps, seconds = [0, *steps], [0.0, *seconds]
    of_epochs = [
        1000 * (seconds[index + 1] - seconds[index]) / (steps[index + 1] - steps[index])
        for index in range(len(steps) - 1)
    ]
    # The first epoch includes the compilation, the last one the evaluation.
    values["step_ms"] = median(of_epochs[1:-1] or of_epochs)
    times = times_of(folder)
    return values | {"wall_seconds": times["seconds"], "side_by_side": times["side_by_side"]} if times else values


@cache
def thesis_rows() -> tuple[dict[str, float | int], ...]:
    """The thesis's own results: the cell, `trial`, `misclassification` and `seconds` of its 135 trainings."""
    text = read_data("semi_supervised_grid.csv")
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    integers = ("labelled", "unlabelled", "trial")
    return tuple(
        {name: int(value) if name in integers else float(value) for name, value in row.items()}
        for row in csv.DictReader(lines)
    )


def values_by_trial(rows: Rows, cell: Cell, column: str = "misclassification") -> dict[int, float]:
    """The values of a column in a cell, by trial."""
    return by_trial(rows, column, **cell._asdict())


def cell_of(row: Mapping[str, float | int | str]) -> Cell:
    """The cell that a row belongs to."""
    return Cell(integer_in(row, "labelled"), integer_in(row, "unlabelled"), number_in(row, "weight"))


def cells_in(rows: Rows) -> list[Cell]:
    return list(dict.fromkeys(cell_of(row) for row in rows))


def seconds_of_steps(row: Mapping[str, float | int | str]) -> float:
    """Time of all training steps of a row, by their median time."""
    return number_in(row, "steps") * number_in(row, "step_ms") / 1000


def short_number(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


GRID_NEEDS = Needs(
    time={
        "smoke": "2 min",
        "cpu": "9 h for 270 trainings, shared by both figures; the thesis's own size",
        "thesis": "as cpu, one training at a time",
    }
)
