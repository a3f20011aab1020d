"""The picture of the training speed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytenet.evaluation import smooth
from bytenet.reproduction.engine.experiment import Table
from bytenet.reproduction.figures.shared.cells import texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save, write_beside
from bytenet.reproduction.figures.time.speed_verdicts import (
    LABELS,
    THESIS_CARDS,
    THESIS_RATES,
    device_counts,
    devices_text,
    rates,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALPHA = 0.1
"""Weight of the newest value in the smoothing."""


def plot_rates(table: Table, path: Path) -> None:
    """Draw observations per second against time, one panel per number of devices.

    Thin lines are the turns, thick lines are smoothed, dashed lines are the thesis's rates on its cards. The axis is
    logarithmic, because GPUs and CPUs differ by orders of magnitude.
    """
    from matplotlib.lines import Line2D

    counts, models = device_counts(table), texts_in(table, "model")
    figure = new_figure(3.8)
    row = figure.subplots(1, len(counts), squeeze=False, sharey=True)[0]
    for axes, devices, cards, printed in zip(row, counts, THESIS_CARDS, _rates_by_cards(models), strict=True):
        axes.set(yscale="log", xlabel="seconds of the model's training")
        for model in models:
            _draw_rates(axes, table, model, devices)
            axes.axhline(printed[model], color=_colour(model), linestyle="--", linewidth=1.1)
        axes.set(xlim=(0, None))
        plural = "s" if cards > 1 else ""
        axes.set_title(f"here {devices_text(table, devices)}; thesis {cards} Titan X card{plural}", fontsize="medium")
        axes.grid(alpha=0.3, which="both")
    _label_rates(row[0])
    for axes, printed in zip(row, _rates_by_cards(models), strict=True):
        write_beside(axes, [(rate, f"{rate:g}", _colour(model)) for model, rate in printed.items()])
    styles: dict[str, dict[str, Any]] = {
        "each turn": {"linewidth": 0.8, "alpha": 0.6}, "smoothed": {"linewidth": 1.8},
        "thesis, once warm (cards of 2017)": {"linewidth": 1.1, "linestyle": "--"},
    }  # fmt: skip
    samples = {label: Line2D([], [], color="grey", **style) for label, style in styles.items()}
    legend_below(figure, handles_of(row) | samples)
    save(figure, path)


def _rates_by_cards(models: Sequence[str]) -> list[dict[str, float]]:
    """The thesis's rates by model, one dict for each of `THESIS_CARDS`."""
    return [{model: THESIS_RATES[model][place] for model in models} for place in range(len(THESIS_CARDS))]


def _draw_rates(axes: "Axes", table: Table, model: str, devices: int) -> None:
    values = rates(table, model, devices)
    elapsed = [row["elapsed_seconds"] for row in table if (row["model"], row["devices"]) == (model, devices)]
    axes.plot(elapsed, values, color=_colour(model), linewidth=0.8, alpha=0.4)
    axes.plot(elapsed, smooth(values, ALPHA), color=_colour(model), linewidth=1.8, label=f"{LABELS[model]}, here")


def _label_rates(axes: "Axes") -> None:
    """Label the logarithmic axis with plain numbers."""
    from matplotlib.ticker import NullFormatter

    low, high = axes.get_ylim()
    ticks = [rate for rate in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if low <= rate <= high]
    axes.set_yticks(ticks, [f"{rate:,}" for rate in ticks])
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set(ylim=(low, high), ylabel="observations (sentence pairs) a second")


def _colour(model: str) -> str:
    """Colour of a model, the same in all three figures."""
    return f"C{list(LABELS).index(model)}"
