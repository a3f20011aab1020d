"""The grid of figures 3.6.1 and 3.6.2, semi-supervised ByteNets on Synthetic Digits, and the thesis's numbers of it."""

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

LABELLED = (64, 128, 256)
UNLABELLED = (0, 512, 1024)
WEIGHTS = (0.2, 0.1, 0.01)
TRIALS = 5
#: The settings the grid is trained with, and what to call them.
SETTINGS = {"thesis": "thesis settings", "default": "defaults"}

# The thesis's common test set, which chooses nothing here: the last model is kept.
_TEST_SEED, _TEST_SIZE = 2, 1024
# Of a training over one with the defaults without unlabelled text, about: half as many pairs a step, dearer text.
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
        """What the cell is compared with to see what unlabelled text does: trained from the same weights."""
        return self._replace(unlabelled=0)


def cells(scale: Scale) -> list[Cell]:
    """The grid; at "smoke" two cells of it."""
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
        settings: of `SETTINGS`.
        cell: of the grid.
        scale: of the experiment.
        name: of a run that is not of the grid, because `more` or `starts` say so.
        more: further settings.
        starts: what it begins with.
    """
    preset = "digits-semi-thesis" if settings == "thesis" else "digits-semi"
    labelled, unlabelled, weight = cell
    overrides = (
        f"data.num_train={labelled}", f"data.num_monolingual={unlabelled or 'null'}",
        f"semi_supervised.source_weight={weight}", f"data.validation_seed={_TEST_SEED}",
        f"data.num_validation={_TEST_SIZE}", *_SCALES[scale], *more,
    )  # fmt: skip
    kind = f"semi-{settings}, {labelled} pairs" + (", text" if unlabelled else "")
    return TrainingRun(
        name or f"semi-{settings}-{labelled}-{unlabelled}-{weight}", preset, overrides,
        thesis=None if settings == "thesis" else grid_run("thesis", cell, "thesis"),
        by_seed=partial(_settings_of_trial, weight), starts=starts,
        together=name or kind, cost=labelled * (_COST_OF_TEXT if unlabelled else _COST_OF_SETTINGS)[settings],
    )  # fmt: skip


def _settings_of_trial(weight: float, trial: int) -> tuple[str, ...]:
    """The thesis's seeds of the data; and first weights that differ by trial and weight alone.

    So cells with and without unlabelled text begin alike, and the three without text, where the weight does nothing,
    are three trainings, as in the thesis.
    """
    return (
        f"data.train_seed={10 * trial}",
        f"data.monolingual_seed={10 * trial + 1}",
        f"training.seed={10 * trial + WEIGHTS.index(weight)}",
    )


def grid_runs(scale: Scale) -> list[TrainingRun]:
    """All trainings of the grid; those that share a compiled model follow each other."""
    return [grid_run(settings, cell, scale) for settings, cell in _all_cells(scale)]


def grid_labels(scale: Scale) -> list[Row]:
    """Of each of `grid_runs`, in order: `settings` and the cell."""
    return [{"settings": settings, **cell._asdict()} for settings, cell in _all_cells(scale)]


def _all_cells(scale: Scale) -> list[tuple[str, Cell]]:
    return [(settings, cell) for settings in SETTINGS for cell in cells(scale)]


def measure_grid(work: Work, columns: Mapping[str, str]) -> Table:
    """Rows of `settings`, the cell, `trial` and the columns asked for, one for each training that is finished.

    Args:
        work: where they are.
        columns: what to put into each, by its name: "seconds" (of training, as its metrics tell), "wall_seconds" (from
            the process's being asked for it), "side_by_side" (trainings at a time), "step_ms" (median over epochs,
            compilation and evaluation left out), "processor" (its name), or columns of `metrics.csv` such as "step", of
            which the last value counts; empty where there is none.
    """
    rows: Table = []
    for label, run in zip(grid_labels(work.scale), grid_runs(work.scale), strict=True):
        for trial, folder in work.finished(run):
            found = final_values(folder.path) | {"processor": folder.environment()["machine"]["processor"]}
            rows.append(label | {"trial": trial} | {name: found.get(value, "") for name, value in columns.items()})
    return rows


def final_values(folder: Path) -> dict[str, float | str]:
    """What a finished training measured last, by the columns of its `metrics.csv`, and its times."""
    metrics = read_csv_log(folder / "metrics.csv")
    found = {name: "" if math.isnan(values[-1]) else values[-1] for name, values in metrics.items()}
    found["step"] = int(metrics["step"][-1])
    steps, seconds = metrics["step"], metrics["seconds"]
    if steps[0] > 0:  # else what it starts from was measured
        steps, seconds = [0, *steps], [0.0, *seconds]
    of_epochs = [
        1000 * (seconds[index + 1] - seconds[index]) / (steps[index + 1] - steps[index])
        for index in range(len(steps) - 1)
    ]
    # The first holds the compilation, the last the evaluation.
    found["step_ms"] = median(of_epochs[1:-1] or of_epochs)
    times = times_of(folder)
    return found | {"wall_seconds": times["seconds"], "side_by_side": times["side_by_side"]} if times else found


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
    """By trial."""
    return by_trial(rows, column, **cell._asdict())


def rows_of(table: Table, settings: str) -> Table:
    return [row for row in table if row["settings"] == settings]


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
