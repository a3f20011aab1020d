"""Figure 3.5.2: ReLU and SELU."""

from pathlib import Path

import numpy as np

from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Basis, Experiment, Scale, Table, Work
from bytenet.reproduction.engine.judging import compare_exact, statement
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import columns_of
from bytenet.reproduction.figures.shared.needs import COMPUTED
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save

_ALPHA, _LAMBDA = (thesis_numbers("selu")[name] for name in ("alpha", "lambda"))


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

    x, relu, selu = columns_of(table).values()
    slope = float(selu[-1] / x[-1])
    limit = float(selu[0] / (np.exp(x[0]) - 1))  # minus the value that SELU approaches
    weights = norm.pdf(x)
    mean = np.trapezoid(selu * weights, x)
    variance = np.trapezoid((selu - mean) ** 2 * weights, x)
    drift = float(max(abs(mean), abs(variance - 1)))
    # ReLU(3 x) at the points x for which 3 x is on the axis.
    tripled = {sign: np.interp(sign * 3 * x[400:601], x, relu) - sign * 3 * relu[400:601] for sign in (1, -1)}
    gaps = {sign: float(np.abs(values).max()) for sign, values in tripled.items()}
    return [
        compare_exact("SELU's slope λ to the right", _LAMBDA, slope, tolerance=1e-5),
        compare_exact("SELU's α, from its value at -5", _ALPHA, limit / slope, tolerance=1e-5),
        statement(
            "SELU of a standard normal: how far mean and variance are from 0 and 1",
            "self-normalizing",
            holds=drift < 1e-3,
            measured=drift,
        ),
        statement(
            "|ReLU(αz) - α ReLU(z)| for α = 3 (section 2.4.1)", "0", holds=gaps[1] < 1e-5, measured=gaps[1],
        ),
        Verdict(
            quantity="the same for α = -3",
            printed="not said",
            measured=gaps[-1],
            note="a normalisation's gain can be left out before ReLU where it is positive",
        ),
    ]  # fmt: skip


def _plot_activations(table: Table, path: Path) -> None:
    columns = columns_of(table)
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
        name="fig-3.5.2",
        title="ReLU and SELU",
        thesis="Both on [-5, 5]. SELU's two constants are derived for normally distributed inputs.",
        needs=COMPUTED,
        basis=Basis("computed"),
        measure=_measure_activations,
        verdicts=_activation_verdicts,
        plot=_plot_activations,
    ),
)
