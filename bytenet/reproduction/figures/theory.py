"""Figures 2.4.1, 2.4.2 and 3.5.2, table 2.4.1: normalisation and activations, shown without training."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict, compare, statement
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save

_NEEDS = Needs(time={"smoke": "15 s", "cpu": "15 s", "thesis": "15 s"})
_SAMPLES = 200_000

# Figures 2.4.1 and 2.4.2


def _normal_label(mean: float, deviation: float) -> str:
    return f"N({mean:g}, {deviation:g})"


def _densities(parameters: Sequence[tuple[float, float]], standardise: bool) -> Table:
    """Densities by formula, and shares of random numbers below each x.

    Args:
        parameters: means and standard deviations.
        standardise: give the sigmoid what the project's batch normalisation makes of the numbers.

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


def _columns(table: Table, **where: Any) -> dict[str, np.ndarray]:
    """The columns of the rows that have the given values."""
    rows = [row for row in table if all(row[key] == value for key, value in where.items())]
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def _groups(table: Table, *keys: str) -> Iterator[tuple[tuple, dict[str, np.ndarray]]]:
    for values in dict.fromkeys(tuple(row[key] for key in keys) for row in table):
        yield values, _columns(table, **dict(zip(keys, values, strict=True)))


def _largest_gap(columns: Mapping[str, np.ndarray]) -> float:
    """Kolmogorov's distance between formula and random numbers, over the range of x."""
    from scipy.integrate import cumulative_trapezoid

    by_formula = cumulative_trapezoid(columns["density"], columns["x"], initial=0)
    sampled = columns["sampled_below"] - columns["sampled_below"][0]
    return float(np.abs(by_formula - sampled).max())


def _measure_normalised(work: Work) -> Table:
    """Before and after."""
    before, after = (_densities([(1, 1), (0, 2)], standardise=standardise) for standardise in (False, True))
    return before + [row for row in after if row["variable"] != "z"]


def _shift(table: Table, variable: str) -> float:
    """Kolmogorov's distance between what N(1, 1) and N(0, 2) become, by their random numbers."""
    labels = _normal_label(1, 1), _normal_label(0, 2)
    first, second = (_columns(table, input=label, variable=variable)["sampled_below"] for label in labels)
    return float(np.abs(first - second).max())


# Two samples of 200,000 stray further apart by chance less than once in a hundred times.
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

    inputs = list(dict.fromkeys(str(row["input"]) for row in table))
    figure = new_figure(1.4 + 1.6 * len(inputs))
    grid = figure.subplots(len(inputs), 1, sharex=True, sharey=True)
    for axes, label in zip(grid, inputs, strict=True):
        shown = dict.fromkeys(row["variable"] for row in table if row["input"] == label)
        for colour, variable in enumerate(shown):
            columns = _columns(table, input=label, variable=variable)
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


_VARIABLES = {"z": "z", "sigmoid": "sigmoid of z", "normalised sigmoid": "sigmoid of z, normalised"}


# Table 2.4.1

_TABLE = "improving-convergence-speed.tex:132"
_INVARIANT = {
    ("batch", "weight matrix re-scaling"): True,
    ("batch", "weight matrix re-centring"): False,
    ("batch", "dataset re-scaling"): True,
    ("batch", "dataset re-centring"): True,
    ("layer", "weight matrix re-scaling"): True,
    ("layer", "weight matrix re-centring"): True,
    ("layer", "dataset re-scaling"): True,
    ("layer", "dataset re-centring"): False,
    # Named in the caption:
    ("batch", "weight vector re-scaling"): True,
    ("layer", "single case re-scaling"): True,
}
# Rounding to float32 changes the output by 1e-6 of itself.
_UNCHANGED = 1e-4


def _measure_invariances(work: Work) -> Table:
    """Normalise `data @ weights`, change one of them, normalise again.

    Re-centring is meant as by Ba et al. 2016: of the weights, one vector is added to the incoming weights of all
    units alike; of the data, one vector is added to all cases alike.
    """
    import keras

    from bytenet.layers.normalization import make_normalization

    random = np.random.default_rng(0)
    data, weights = random.normal(size=(256, 32)), random.normal(size=(32, 64))  # cases, inputs, units
    vector = random.normal(size=32)
    one_case, one_unit = np.ones((256, 1)), np.ones(64)
    one_case[0], one_unit[0] = 3, 3
    changed = {
        "weight matrix re-scaling": (data, 3 * weights),
        "weight matrix re-centring": (data, weights + vector[:, None]),
        "dataset re-scaling": (3 * data, weights),
        "dataset re-centring": (data + vector, weights),
        "weight vector re-scaling": (data, weights * one_unit),
        "single case re-scaling": (data * one_case, weights),
    }
    rows: Table = []
    for kind in ("batch", "layer"):
        layer = make_normalization(kind, epsilon=1e-8, momentum=0.99)
        arguments = {"training": True} if kind == "batch" else {}

        def normalised(inputs: np.ndarray, layer=layer, arguments=arguments) -> np.ndarray:
            return keras.ops.convert_to_numpy(layer(inputs.astype("float32"), **arguments))

        before = normalised(data @ weights)
        for change, (new_data, new_weights) in changed.items():
            difference = normalised(new_data @ new_weights) - before
            relative = float(np.linalg.norm(difference) / np.linalg.norm(before))
            rows.append({"normalisation": kind, "change": change, "relative_change_of_output": relative})
    return rows


def _invariance_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    found = []
    for row in table:
        printed = _INVARIANT.get((row["normalisation"], row["change"]))
        change = float(row["relative_change_of_output"])
        quantity = f"{row['normalisation']} normalisation, {row['change']}: relative change of the output"
        if printed is None:
            verdict = "invariant" if change < _UNCHANGED else "not invariant"
            found.append(Verdict(quantity=quantity, printed="", measured=change, note=verdict))
            continue
        holds = (change < _UNCHANGED) == printed
        printed_text = "invariant" if printed else "not invariant"
        found.append(statement(quantity, printed_text, holds, change, contradicts=not holds, source=_TABLE))
    return found


# Figure 3.5.2

_ALPHA, _LAMBDA = 1.6732632423, 1.0507009873


def _measure_activations(work: Work) -> Table:
    import keras

    from bytenet.layers import NormalizedActivation

    x = np.linspace(-5, 5, 1001)
    values = {
        name: keras.ops.convert_to_numpy(NormalizedActivation("none", name)(x[:, None].astype("float32")))[:, 0]
        for name in ("relu", "selu")
    }
    return [
        {"x": float(at), "relu": float(relu), "selu": float(selu)}
        for at, relu, selu in zip(x, values["relu"], values["selu"], strict=True)
    ]


def _activation_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    from scipy.stats import norm

    x, relu, selu = _columns(table).values()
    slope = float(selu[-1] / x[-1])
    limit = float(selu[0] / (np.exp(x[0]) - 1))  # minus the value that it falls to
    weights = norm.pdf(x)
    mean = np.trapezoid(selu * weights, x)
    variance = np.trapezoid((selu - mean) ** 2 * weights, x)
    drift = float(max(abs(mean), abs(variance - 1)))
    # ReLU(3 x) on the points whose threefold is on the axis.
    tripled = {sign: np.interp(sign * 3 * x[400:601], x, relu) - sign * 3 * relu[400:601] for sign in (1, -1)}
    gaps = {sign: float(np.abs(values).max()) for sign, values in tripled.items()}
    return [
        compare("SELU's slope λ to the right", _LAMBDA, [slope], tolerance=1e-5),
        compare("SELU's α, from its value at -5", _ALPHA, [limit / slope], tolerance=1e-5),
        statement(
            "SELU of a standard normal: how far mean and variance are from 0 and 1",
            "self-normalizing",
            holds=drift < 1e-3,
            measured=drift,
        ),
        statement(
            "|ReLU(αz) - α ReLU(z)| for α = 3 (eq. 2.4.6)", "0", holds=gaps[1] < 1e-5, measured=gaps[1],
        ),
        Verdict(
            quantity="the same for α = -3",
            printed="not said",
            measured=gaps[-1],
            note="a normalisation's gain can be left out before ReLU where it is positive",
        ),
    ]  # fmt: skip


def _plot_activations(table: Table, path: Path) -> None:
    columns = _columns(table)
    figure = new_figure(4)
    axes = figure.subplots()
    axes.plot(columns["x"], columns["relu"], label="ReLU")
    axes.plot(columns["x"], columns["selu"], label="SELU")
    limit = -_ALPHA * _LAMBDA
    axes.axhline(limit, color="grey", linewidth=0.8, linestyle=":", label=f"-λα = {limit:.3f}, by the constants")
    axes.set(xlabel="input, no unit", ylabel="activation, no unit", xlim=(-5, 5))
    axes.grid(alpha=0.3)
    legend_below(figure, handles_of([axes]))
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="fig-2.4.1",
        title="Densities of normal inputs and of their sigmoids",
        thesis="Three normal distributions, as three pairs of weight and bias give them, and what a sigmoid makes of "
        "them: when weights change, the distribution of activations does, the internal covariate shift.",
        needs=_NEEDS,
        basis=Basis("computed"),
        measure=lambda work: _densities([(0, 1), (1, 1), (0, 2)], standardise=False),
        verdicts=_shift_verdicts,
        plot=_plot_densities,
    ),
    Experiment(
        name="fig-2.4.2",
        title="Densities of normal inputs and of their sigmoids after batch normalisation",
        thesis="Two of the distributions of figure 2.4.1; normalised first, both give the same activations.",
        needs=_NEEDS,
        basis=Basis("computed"),
        measure=_measure_normalised,
        verdicts=_normalised_verdicts,
        plot=_plot_densities,
    ),
    Experiment(
        name="tab-2.4.1",
        title="To what batch and layer normalisation are invariant",
        thesis="Batch normalisation to all but re-centring of the weight matrix, layer normalisation to all but "
        "re-centring of the dataset; moreover batch normalisation to re-scaling of one weight vector, layer "
        "normalisation to re-scaling of a single case.",
        needs=_NEEDS,
        basis=Basis("computed"),
        measure=_measure_invariances,
        verdicts=_invariance_verdicts,
    ),
    Experiment(
        name="fig-3.5.2",
        title="ReLU and SELU",
        thesis="Both on [-5, 5]. SELU's two constants are derived for normally distributed inputs.",
        needs=_NEEDS,
        basis=Basis("computed"),
        measure=_measure_activations,
        verdicts=_activation_verdicts,
        plot=_plot_activations,
    ),
)
