"""Tables of training curves of finished runs, and values read off them."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from bytenet.csv_log import read_csv_log
from bytenet.reproduction.engine.experiment import Row, Table, Work
from bytenet.reproduction.figures.shared.cells import integer_in, rows_where
from bytenet.reproduction.jobs.training_run import TrainingRun
from bytenet.run_folder import RunFolder

#: Settings with which a run records its curves during training.
WATCHED = ("evaluation.continuous_every_seconds=null", "evaluation.continuous_train=true")


def collect_curves(work: Work, labelled: Mapping[str, TrainingRun], measures: Sequence[str]) -> Table:
    """The curves of finished trainings.

    Args:
        work: finds the finished trainings.
        labelled: runs by their names in the picture.
        measures: columns of `continuous.csv`.

    Returns:
        Rows of `run`, `seed`, `epoch` (a fraction), `train_<measure>` and `test_<measure>`.
    """
    rows: Table = []
    for label, run in labelled.items():
        for seed, folder in zip(work.seeds, work.folders(run), strict=True):
            values = read_csv_log(folder.continuous_path)
            of_epoch = steps_per_epoch(folder)
            for index, step in enumerate(values["step"]):
                row: Row = {"run": label, "seed": seed, "epoch": round(step / of_epoch, 3)}
                for measure in measures:
                    row[f"train_{measure}"] = values[f"train_{measure}"][index]
                    row[f"test_{measure}"] = values[measure][index]
                rows.append(row)
    return rows


def steps_per_epoch(folder: RunFolder) -> float:
    """Training steps of an epoch of a finished run."""
    epochs = read_csv_log(folder.metrics_path)
    return epochs["step"][-1] / epochs["epoch"][-1]


def series(table: Table, run: str, column: str) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Epochs and values of a column of a run, by seed."""
    curves = {}
    for seed in sorted({integer_in(row, "seed") for row in rows_where(table, run=run)}):
        rows = rows_where(table, run=run, seed=seed)
        curves[seed] = (np.array([row["epoch"] for row in rows]), np.array([row[column] for row in rows], float))
    return curves


def settled(table: Table, run: str, column: str, share: float = 0.2) -> list[float]:
    """Where the curves end: the mean over the last `share` of the points, one value per seed.

    The ends of the thesis's curves were read after smoothing. The thesis has many points, so this makes little
    difference. Our curves have few points, and smoothing would bring in the beginning of the training.
    """
    curves = series(table, run, column).values()
    return [fmean(values[-max(1, round(share * len(values))) :]) for _, values in curves]


def beginning(table: Table, run: str, column: str, share: float = 0.2) -> list[float]:
    """Where the curves begin: the mean over the first `share` of the points, one value per seed."""
    curves = series(table, run, column).values()
    return [fmean(values[: max(1, round(share * len(values)))]) for _, values in curves]


def first_values(table: Table, run: str, column: str) -> list[float]:
    """The value before the first step, one per seed. Curves that begin later are left out."""
    return [float(values[0]) for epochs, values in series(table, run, column).values() if epochs[0] == 0]


SPIKE = 5.0
"""A loss above this many times the median of its curve is a spike."""
NOT_LEARNT = 2.0
"""A model with a loss above this many times the loss of ByteNet has not learned."""


def worst_spikes(table: Table, run: str, column: str) -> list[float]:
    """Highest value over the median in the second half of the curve, one per seed."""
    late = [values[len(values) // 2 :] for _, values in series(table, run, column).values()]
    return [float(values.max() / np.median(values)) for values in late]
