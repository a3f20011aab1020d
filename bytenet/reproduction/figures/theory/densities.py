"""Figures 2.4.1 and 2.4.2: densities of normal inputs, before and after batch normalisation."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from bytenet.reproduction.engine.experiment import Basis, Experiment, Scale, Table, Work
from bytenet.reproduction.engine.judging import statement
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import columns_of, rows_where, texts_in
from bytenet.reproduction.figures.shared.needs import COMPUTED
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save

_SAMPLES = 200_000
_VARIABLES = {"z": "z", "sigmoid": "sigmoid of z", "normalised sigmoid": "sigmoid of z, normalised"}


def _normal_label(mean: float, deviation: float) -> str:
    return f"N({mean:g}, {deviation:g})"


def _densities(parameters: Sequence[tuple[float, float]], standardise: bool) -> Table:
    """Densities by formula, and the share of random numbers below each x.

    Args:
        parameters: means and standard deviations.
        standardise: normalise the numbers with the project's batch normalisation before the sigmoid.

    Returns:
        Rows of `input`, `variable` ("z", "sigmoid", or "normalised sigmoid"), `x`, `density` and `sampled_below`.
    """
    import keras
    from scipy.stats import norm

    from bytenet.layers import MaskedBatchNormalization

    random = np.random.default_rng(0)
    rows: Table = []
    for mean, deviation in parameters:
        normal = norm(mean, deviation)
        sampled = random.normal(mean, deviation, _SAMPLES)
        to_sigmoid = norm(0, 1) if standardise else normal
        normalised = MaskedBatchNormalization()(sampled[:, None], training=True) if standardise else sampled
        squashed = keras.ops.convert_to_numpy(keras.activations.sigmoid(normalised)).ravel()
        inner = np.linspace(0.002, 0.998, 201)
        # Change of variables: the density of the inverse, times its derivative.
        squashed_density = to_sigmoid.pdf(np.log(inner / (1 - inner))) / (inner * (1 - inner))
        outer = np.linspace(-2, 2, 201)
        for variable, x, density, numbers in (
            ("z", outer, normal.pdf(outer), sampled),
            ("normalised sigmoid" if standardise else "sigmoid", inner, squashed_density, squashed),
        ):
            below = np.searchsorted(np.sort(numbers), x, side="right") / len(numbers)
            rows += [
                {
                    "input": _normal_label(mean, deviation),
                    "variable": variable,
                    "x": a,
                    "density": b,
                    "sampled_below": c,
                }
                for a, b, c in zip(x.tolist(), density.tolist(), below.tolist(), strict=True)
            ]
    return rows


def _groups(table: Table, *keys: str) -> Iterator[tuple[tuple, dict[str, np.ndarray]]]:
    for values in dict.fromkeys(tuple(row[key] for key in keys) for row in table):
        yield values, columns_of(table, **dict(zip(keys, values, strict=True)))


def _largest_gap(columns: Mapping[str, np.ndarray]) -> float:
    """Kolmogorov distance between the formula and the random numbers, over the range of x."""
    from scipy.integrate import cumulative_trapezoid

    by_formula = cumulative_trapezoid(columns["density"], columns["x"], initial=0)
    sampled = columns["sampled_below"] - columns["sampled_below"][0]
    return float(np.abs(by_formula - sampled).max())


def _measure_normalised(work: Work) -> Table:
    """The densities without normalisation, then the normalised ones."""
    before, after = (_densities([(1, 1), (0, 2)], standardise=standardise) for standardise in (False, True))
    return before + [row for row in after if row["variable"] != "z"]


def _shift(table: Table, variable: str) -> float:
    """Kolmogorov distance between the transformed random numbers of N(1, 1) and N(0, 2)."""
    labels = _normal_label(1, 1), _normal_label(0, 2)
    first, second = (columns_of(table, input=label, variable=variable)["sampled_below"] for label in labels)
    return float(np.abs(first - second).max())


# Two samples of 200,000 numbers differ by more than this with a probability below 0.01.
_CLOSE = 0.0052
_BETWEEN = "sigmoid of N(1, 1) and of N(0, 2): Kolmogorov distance"


def _formula_verdict(table: Table) -> Verdict:
    gaps = [_largest_gap(columns) for _, columns in _groups(table, "input", "variable")]
    return statement(
        f"largest Kolmogorov distance of {len(gaps)} densities and {_SAMPLES:,} random numbers each",
        "the densities of the sigmoid follow by a change of variables",
        holds=max(gaps) < _CLOSE,
        measured=max(gaps),
    )


def _shift_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    distance = _shift(table, "sigmoid")
    printed = "other weights give another distribution of activations"
    return [_formula_verdict(table), statement(_BETWEEN, printed, distance > 0.1, distance)]


def _normalised_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    after = _shift(table, "normalised sigmoid")
    note = f"{_shift(table, 'sigmoid'):.3f} before; normalised by bytenet.layers.MaskedBatchNormalization"
    return [
        _formula_verdict(table),
        statement(f"normalised {_BETWEEN}", "the distributions are the same", after < _CLOSE, after, note=note),
    ]


def _plot_densities(table: Table, path: Path) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    inputs = texts_in(table, "input")
    figure = new_figure(1.4 + 1.6 * len(inputs))
    grid = figure.subplots(len(inputs), 1, sharex=True, sharey=True)
    for axes, label in zip(grid, inputs, strict=True):
        shown = texts_in(rows_where(table, input=label), "variable")
        for colour, variable in enumerate(shown):
            columns = columns_of(table, input=label, variable=variable)
            superseded = variable == "sigmoid" and "normalised sigmoid" in shown
            style = {"color": "grey", "linestyle": ":"} if superseded else {"color": f"C{min(colour, 1)}"}
            axes.plot(columns["x"], columns["density"], label=_VARIABLES[variable], **style)
            if superseded:
                continue
            x, below = columns["x"][::10], columns["sampled_below"][::10]
            heights, middles = np.diff(below) / np.diff(x), (x[1:] + x[:-1]) / 2
            axes.bar(middles, heights, np.diff(x), color=style["color"], alpha=0.2, linewidth=0)
        axes.set(xlim=(-2, 2), ylim=(0, 2.5), ylabel="density")
        axes.set_title(f"z from {label}", fontsize="medium")
        axes.grid(alpha=0.3)
    grid[-1].set_xlabel("value of z or of its sigmoid, no unit; N(mean, standard deviation)")
    samples = {"by formula": Line2D([], [], color="grey"), "random numbers": Patch(color="grey", alpha=0.3)}
    legend_below(figure, handles_of(grid) | samples)
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="fig-2.4.1",
        title="Densities of normal inputs and of their sigmoids",
        thesis="Three normal distributions, given by three pairs of weight and bias, and the distributions of their "
        "sigmoids. When the weights change, so does the distribution of activations. This is the internal covariate "
        "shift.",
        needs=COMPUTED,
        basis=Basis("computed"),
        measure=lambda work: _densities([(0, 1), (1, 1), (0, 2)], standardise=False),
        verdicts=_shift_verdicts,
        plot=_plot_densities,
    ),
    Experiment(
        name="fig-2.4.2",
        title="Densities of normal inputs and of their sigmoids after batch normalisation",
        thesis="Two of the distributions of figure 2.4.1. By the figure, both give the same activations if "
        "they are normalised first. The author's script draws the same curve twice.",
        needs=COMPUTED,
        basis=Basis("computed"),
        measure=_measure_normalised,
        verdicts=_normalised_verdicts,
        plot=_plot_densities,
    ),
)
