"""Beyond the thesis: what a character costs in a search, by its length, for each family."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.systems import SYSTEMS, System
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save

_LENGTHS: dict[Scale, tuple[int, ...]] = {
    "smoke": (10, 20), "cpu": (50, 200, 800, 2000), "thesis": (50, 200, 800, 2000),
}  # fmt: skip
_REPEATS = {"smoke": 1, "cpu": 5, "thesis": 5}
_VOCAB_SIZE = 105


def measure(work: Work, systems: Mapping[str, System] = SYSTEMS) -> Table:
    """Rows of `system`, `length`, and `milliseconds` a character: median, `low` and `high` of the turns.

    Greedy search for one sentence, compiled with XLA. Sources and translations have `length` characters.
    """
    from bytenet.config import load_config
    from bytenet.models import build_model
    from bytenet.profiling.benchmarks.decoding import DecodingCase, measure_decoding

    rows: Table = []
    for name, system in systems.items():
        work.say(f"search: {name}")
        config = load_config(
            system.preset, [*(system.smoke if work.scale == "smoke" else ()), *system.settings, *system.longer]
        )
        model = build_model(config.model, _VOCAB_SIZE)
        cases = [DecodingCase(length, jit_compile=work.scale != "smoke") for length in _LENGTHS[work.scale]]
        for cost in measure_decoding(model, cases, _REPEATS[work.scale]):
            spread = cost.milliseconds
            rows.append(
                {"system": name, "length": cost.case.length, "milliseconds": spread.median, "low": spread.least,
                 "high": spread.most}
            )  # fmt: skip
    return rows


def verdicts(table: Table, scale: Scale) -> list[Verdict]:
    comparisons_of_all = []
    for system in texts_in(table, "system"):
        costs = {
            round(number_in(row, "length")): number_in(row, "milliseconds") for row in rows_where(table, system=system)
        }
        least, *_, longest = sorted(costs)
        note = "; ".join(f"{length}: {milliseconds:.2f} ms" for length, milliseconds in costs.items())
        comparisons = [(longest, f"the cost at {least}", costs[least])]
        # The shortest sentences are left out: a fixed cost of each search weighs most there.
        if len(costs) == 4:
            _, first, middle, last = sorted(costs)
            expected = float(np.interp(middle, (first, last), (costs[first], costs[last])))
            comparisons.append(
                (middle, f"the value on a straight line from {first:,} to {last:,} characters", expected)
            )
        comparisons_of_all += [
            Verdict(
                quantity=f"cost of a character at {length:,} characters, divided by {words}, {system}",
                printed="not measured", measured=costs[length] / reference, note=note,
            )
            for length, words, reference in comparisons
        ]  # fmt: skip
    return comparisons_of_all


def plot(table: Table, path: Path) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    figure = new_figure(4.0, width=6.0)
    axes = figure.subplots()
    for system in texts_in(table, "system"):
        rows = rows_where(table, system=system)
        lengths, medians = ([row[key] for row in rows] for key in ("length", "milliseconds"))
        [line] = axes.plot(lengths, medians, "o-", label=system)
        axes.fill_between(
            lengths, [row["low"] for row in rows], [row["high"] for row in rows], color=line.get_color(), alpha=0.2
        )
    axes.set(
        xscale="log", yscale="log", xlabel="characters of source and translation",
        ylabel="ms per character (greedy, one sentence)",
    )  # fmt: skip
    lengths = sorted({number_in(row, "length") for row in table})
    axes.set_xticks(lengths, [f"{length:,.0f}" for length in lengths], minor=False)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)
    legend_below(figure, handles_of([axes]))
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="family-decoding",
        is_thesis=False,
        title="The families of models: the cost of a character against the length of the sentence",
        needs=Needs(time={"smoke": "1 min", "cpu": "10 min", "thesis": "as cpu"}),
        basis=Basis("measured, other hardware", "d = 128 to 256, untrained"),
        measure=measure,
        verdicts=verdicts,
        plot=plot,
    ),
)
