"""The curves of a training run as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytenet.csv_log import read_csv_log
from bytenet.files import atomic_path
from bytenet.run_folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_curves(folder: RunFolder, path: Path) -> None:
    """Draw loss, character errors, BLEU and chrF over training time into a PNG file.

    Values of random validation batches are lines, thin if raw and thick if smoothed. Values of epochs and of the whole
    validation set are dots.

    Args:
        folder: of a run with measurements.
        path: of the picture.
    """
    from matplotlib.figure import Figure

    epochs = read_csv_log(folder.metrics_path)
    batches = read_csv_log(folder.continuous_path)
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    loss, error, score = figure.subplots(1, 3)
    training = folder.config.training
    if training.loss == "character":  # otherwise it is in nats per sentence, on another scale
        additions = ", ".join(["dropout", *training.loss_additions])
        _draw(loss, epochs, "loss", f"training (with {additions})", "o-", "tab:grey")
    _draw(loss, epochs, "val_loss", "validation", "o-", "tab:blue")
    _draw_batches(loss, batches, "cross_entropy", "tab:blue")
    loss.set(ylabel="loss, nats per character", ylim=(0, None))
    _draw(error, epochs, "character_error", "training, next character", "o-", "tab:grey")
    _draw(error, epochs, "val_misclassification", "validation, translated", "o-", "tab:red")
    _draw_batches(error, batches, "misclassification", "tab:red")
    error.set(ylabel="share of wrong characters", ylim=(0, 1))
    _draw(score, epochs, "val_bleu", "BLEU, validation", "o-", "tab:green")
    _draw(score, epochs, "val_chrf", "chrF, validation", "o-", "tab:olive")
    _draw_batches(score, batches, "bleu", "tab:green")
    score.set(ylabel="score", ylim=(0, None))
    for axes in (loss, error, score):
        axes.set_xlabel("training time, minutes")
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize="small")
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=110)


def _draw(
    axes: "Axes", columns: dict[str, list[float]], name: str, label: str | None, style: str, colour: str, **line: Any
) -> None:
    if name in columns:
        minutes = [seconds / 60 for seconds in columns["seconds"]]
        axes.plot(minutes, columns[name], style, color=colour, label=label, markersize=4, **line)


def _draw_batches(axes: "Axes", columns: dict[str, list[float]], name: str, colour: str) -> None:
    _draw(axes, columns, name, None, "-", colour, alpha=0.25, linewidth=0.8)
    _draw(axes, columns, f"{name}_smoothed", "validation, random batches", "-", colour, alpha=0.6, linewidth=2)
