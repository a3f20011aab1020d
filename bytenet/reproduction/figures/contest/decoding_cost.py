"""Beyond the thesis: what a character costs in a search, by its length, for each family."""

from pathlib import Path

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.systems import SYSTEMS
from bytenet.reproduction.figures.shared.cells import number_in, texts_in
from bytenet.reproduction.figures.shared.plots import new_figure, save

_LENGTHS: dict[Scale, tuple[int, ...]] = {
    "smoke": (10, 20), "cpu": (50, 200, 800, 2000), "thesis": (50, 200, 800, 2000),
}  # fmt: skip
_REPEATS = {"smoke": 1, "cpu": 5, "thesis": 5}
_VOCAB_SIZE = 105


def _measure(work: Work) -> Table:
    """Rows of `system`, `length`, and `milliseconds` a character: median, `low` and `high` of the turns.

    Greedy search for one sentence, compiled with XLA. Sources and translations have `length` characters.
    """
    from bytenet.config import load_config
    from bytenet.models import build_model
    from bytenet.profiling.benchmarks.decoding import DecodingCase, measure_decoding

    rows: Table = []
    for system, one in SYSTEMS.items():
        work.say(f"family-decoding: {system}")
        config = load_config(one.preset, [*(one.smoke if work.scale == "smoke" else ()), *one.longer])
        model = build_model(config.model, _VOCAB_SIZE)
        cases = [DecodingCase(length, jit_compile=work.scale != "smoke") for length in _LENGTHS[work.scale]]
        for cost in measure_decoding(model, cases, _REPEATS[work.scale]):
            spread = cost.milliseconds
            rows.append(
                {"system": system, "length": cost.case.length, "milliseconds": spread.median, "low": spread.least,
                 "high": spread.most}
            )  # fmt: skip
    return rows


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = []
    for system in texts_in(table, "system"):
        costs = {
            round(number_in(row, "length")): number_in(row, "milliseconds") for row in table if row["system"] == system
        }
        lengths = list(costs)
        note = "; ".join(f"{length}: {milliseconds:.2f} ms" for length, milliseconds in costs.items())
        for length in lengths[2:3]:
            verdicts.append(
                Verdict(
                    quantity=f"cost of a character at {length} characters over the line through {lengths[0]} and "
                    f"{lengths[1]}, {system}",
                    printed="not measured", measured=costs[length] / line_at(length, costs), note=note,
                )
            )  # fmt: skip
        verdicts.append(
            Verdict(
                quantity=f"cost of a character at {lengths[-1]} characters over that at {lengths[0]}, {system}",
                printed="not measured", measured=costs[lengths[-1]] / costs[lengths[0]], note=note,
            )
        )  # fmt: skip
    return verdicts


def line_at(length: int, costs: dict[int, float]) -> float:
    """The cost of a character at a length if it grew as between the two least lengths.

    Args:
        length: characters of source and translation.
        costs: milliseconds a character, by length.
    """
    (first, first_cost), (second, second_cost), *_ = sorted(costs.items())
    return first_cost + (second_cost - first_cost) * (length - first) / (second - first)


def _plot(table: Table, path: Path) -> None:
    figure = new_figure(4.0, width=6.0)
    axes = figure.subplots()
    for system in texts_in(table, "system"):
        rows = [row for row in table if row["system"] == system]
        lengths, medians = ([row[key] for row in rows] for key in ("length", "milliseconds"))
        [line] = axes.plot(lengths, medians, "o-", label=system)
        axes.fill_between(
            lengths, [row["low"] for row in rows], [row["high"] for row in rows], color=line.get_color(), alpha=0.2
        )
    axes.set(
        xscale="log", yscale="log", xlabel="characters of source and translation",
        ylabel="milliseconds a character, greedy, one sentence",
    )  # fmt: skip
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="family-decoding",
        is_thesis=False,
        title="The families of models: the cost of a character against the length of the sentence",
        thesis="Not in the thesis.",
        needs=Needs(time={"smoke": "1 min", "cpu": "10 min", "thesis": "as cpu"}),
        basis=Basis("measured, other hardware", "d = 128 to 256, untrained"),
        measure=_measure,
        verdicts=_verdicts,
        plot=_plot,
    ),
)
