"""Training curves as the thesis draws them: train and test beside each other, raw values and a smoothed line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from bytenet.csv_log import read_csv_log
from bytenet.evaluation import smooth
from bytenet.experiments.experiment import Table, Work
from bytenet.experiments.training_runs import TrainingRun
from bytenet.run_folder import RunFolder

SPLITS = ("train", "test")

_LABELS = {
    "sentence_cross_entropy": "cross entropy, nats a sentence",
    "misclassification": "misclassification rate",
    "bleu": "BLEU",
}

#: What a run has to measure on the way for its curves to be drawn.
WATCHED = ("evaluation.continuous_every_seconds=null", "evaluation.continuous_train=true")


@dataclass(frozen=True)
class Panel:
    """One measure of the curves.

    Attributes:
        measure: "sentence_cross_entropy", "misclassification" or "bleu".
        limits: of the y-axis; None for what the values need.
        clip: values above it are drawn at it; None for no such limit.
    """

    measure: str
    limits: tuple[float, float] | None = None
    clip: float | None = None


def collect_curves(work: Work, labelled: Mapping[str, TrainingRun], measures: Sequence[str]) -> Table:
    """The curves of finished trainings.

    Args:
        work: where they are.
        labelled: the runs by the names that the picture gives them.
        measures: which columns of `continuous.csv`.

    Returns:
        Rows of `run`, `seed`, `epoch` (a fraction), `train_<measure>` and `test_<measure>`.
    """
    rows: Table = []
    for label, run in labelled.items():
        for seed, folder in zip(work.seeds, work.folders(run), strict=True):
            values = read_csv_log(folder.path / "continuous.csv")
            of_epoch = steps_per_epoch(folder)
            for index, step in enumerate(values["step"]):
                row = {"run": label, "seed": seed, "epoch": round(step / of_epoch, 3)}
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
    """By seed, epochs and values of a column of a run."""
    found = {}
    for seed in sorted({row["seed"] for row in table if row["run"] == run}):
        rows = [row for row in table if row["run"] == run and row["seed"] == seed]
        found[seed] = (np.array([row["epoch"] for row in rows]), np.array([row[column] for row in rows], float))
    return found


def settled(table: Table, run: str, column: str, share: float = 0.2) -> list[float]:
    """Where the curves end: by seed, the mean over the last `share` of the points.

    The thesis's curves were read so after their smoothing, which hardly matters for as many points as it had; here it
    would bring in the beginning of the training.
    """
    curves = series(table, run, column).values()
    return [fmean(values[-max(1, round(share * len(values))) :]) for _, values in curves]


def first_values(table: Table, run: str, column: str) -> list[float]:
    """By seed, the value before the first step; nothing for curves that begin later."""
    return [float(values[0]) for epochs, values in series(table, run, column).values() if epochs[0] == 0]


SPIKE = 5.0
"""A loss so many times the median of its curve is a spike."""
NOT_LEARNT = 2.0
"""A model whose loss is so many times ByteNet's has not learned."""


def worst_spikes(table: Table, run: str, column: str) -> list[float]:
    """By seed, the highest value over the median, in the second half of the curve."""
    late = [values[len(values) // 2 :] for _, values in series(table, run, column).values()]
    return [float(values.max() / np.median(values)) for values in late]


def plot_curves(
    table: Table,
    path: Path,
    panels: Sequence[Panel],
    alpha: float,
    colour_by: str = "split",
    epoch_lines: bool = False,
) -> None:
    """Draw curves into a PNG file: a row a measure; thin the raw values, thick the smoothed ones.

    Args:
        table: of `collect_curves`.
        path: of the picture.
        panels: the measures.
        alpha: of the smoothing, the thesis's "forget factor".
        colour_by: "split": a column of panels a run, train and test in two colours. "run": a column a split, and
            the runs in colours.
        epoch_lines: draw a line where each epoch ends.
    """
    from matplotlib.figure import Figure

    runs = list(dict.fromkeys(row["run"] for row in table))
    columns, lines = (runs, SPLITS) if colour_by == "split" else (SPLITS, runs)
    figure = Figure(figsize=(1.5 + 4.2 * len(columns), 0.8 + 2.6 * len(panels)), layout="constrained")
    grid = figure.subplots(len(panels), len(columns), squeeze=False, sharex=True, sharey="row")
    for row, panel in zip(grid, panels, strict=True):
        for axes, column in zip(row, columns, strict=True):
            for number, line in enumerate(lines):
                run, split = (column, line) if colour_by == "split" else (line, column)
                curves = series(table, run, f"{split}_{panel.measure}").values()
                _draw(axes, curves, alpha, f"C{number}", line, panel.clip)
            if epoch_lines:
                for epoch in range(1, int(max(row["epoch"] for row in table)) + 1):
                    axes.axvline(epoch, color="grey", linewidth=0.5, alpha=0.4, zorder=0)
            axes.grid(alpha=0.3)
        # Not before all of the row is drawn, as its axes share their limits.
        row[0].set_ylim(panel.limits or (0, None))
        row[0].set_ylabel(_LABELS[panel.measure])
    for axes, column in zip(grid[0], columns, strict=True):
        axes.set_title(column)
    for axes in grid[-1]:
        axes.set_xlabel("epoch")
    grid[0][-1].legend(fontsize="small")
    figure.savefig(path, dpi=100)


def _draw(axes, curves, alpha: float, colour: str, label: str, clip: float | None) -> None:
    curves = [(epochs, np.minimum(values, clip) if clip else values) for epochs, values in curves]
    for epochs, values in curves:
        if len(curves) == 1:
            axes.plot(epochs, values, color=colour, linewidth=0.6, alpha=0.3)
        else:
            axes.plot(epochs, smooth(values, alpha), color=colour, linewidth=0.7, alpha=0.4)
    shortest = min(len(epochs) for epochs, _ in curves)
    mean = np.mean([smooth(values, alpha)[:shortest] for _, values in curves], axis=0)
    axes.plot(curves[0][0][:shortest], mean, color=colour, linewidth=1.8, label=label)
