"""Beyond the thesis: what a training step of each family costs, in time and in memory."""

from collections.abc import Mapping
from pathlib import Path

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Scale, Table, Work
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest.systems import SYSTEMS, System
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, text_in, texts_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save

_LENGTHS: dict[Scale, tuple[int, ...]] = {"smoke": (10,), "cpu": (64, 160), "thesis": (64, 160)}
_REPEATS = {"smoke": 1, "cpu": 5, "thesis": 5}


def measure(work: Work, systems: Mapping[str, System] = SYSTEMS) -> Table:
    """Rows of `system` and `length`, with the cost of a step.

    Batches have as many characters as those of the contest. All sentences have `length` characters, end symbol counted.
    The systems take turns at each length, so their times can be compared.
    `milliseconds` a step: median, `low` and `high` of the turns. `characters_a_second`: target characters.
    `gigaflops`: operations of a step. `share_of_peak`: its rate of operations over that of a product of matrices.
    `parameters`: trained. `megabytes`: the peak memory of the process; `training_megabytes`: what training added to it.
    """
    from bytenet.config import load_config
    from bytenet.profiling.benchmarks.memory import measure_memory
    from bytenet.profiling.benchmarks.training import measure_training
    from bytenet.profiling.benchmarks.training_case import TrainingCase

    is_smoke = work.scale == "smoke"
    configs = {
        name: load_config(system.preset, (*(system.smoke if is_smoke else ()), *system.settings))
        for name, system in systems.items()
    }
    rows: Table = []
    for length in _LENGTHS[work.scale]:
        cases = [
            TrainingCase(config, max(1, (config.data.batch_chars or 0) // length), length, jit_compile=not is_smoke)
            for config in configs.values()
        ]
        # The systems take turns. So a machine that slows down for a while slows down all of them.
        costs = measure_training(cases, _REPEATS[work.scale], say=work.say)
        memories = measure_memory(cases, say=work.say)
        for name, cost, memory in zip(configs, costs, memories, strict=True):
            milliseconds = cost.seconds.scaled(1000)
            rows.append(
                {"system": name, "length": length, "milliseconds": milliseconds.median, "low": milliseconds.least,
                 "high": milliseconds.most, "characters_a_second": cost.characters.median,
                 "gigaflops": cost.gigaflops_a_step,
                 "share_of_peak": "" if cost.share_of_peak is None else cost.share_of_peak.median,
                 "parameters": cost.trainable_parameters, "compile_seconds": cost.compile_seconds,
                 "megabytes": memory.peak_bytes / 1e6, "training_megabytes": memory.training_bytes / 1e6}
            )  # fmt: skip
    return rows


def verdicts(table: Table, scale: Scale) -> list[Verdict]:
    costs = []
    for row in table:
        share = row["share_of_peak"]
        notes = [
            f"{row['milliseconds']:.0f} ms per step ({row['low']:.0f} to {row['high']:.0f})",
            f"{row['gigaflops']:.1f} GFLOP",
            *([] if share == "" else [f"{share:.2f} of the rate of a product of matrices"]),
            f"{row['parameters']:,.0f} trained parameters",
            f"{row['megabytes']:,.0f} MB in all, {row['training_megabytes']:,.0f} MB of them for training",
        ]
        costs.append(
            Verdict(
                quantity=f"target characters per second in training, {row['system']}, {row['length']} characters",
                printed="not measured", measured=round(number_in(row, "characters_a_second")), note="; ".join(notes),
            )
        )  # fmt: skip
    return costs


def plot(table: Table, path: Path) -> None:
    """Draw the rate and the memory of each system, with a bar for each length."""
    lengths = list(dict.fromkeys(row["length"] for row in table))
    systems = texts_in(table, "system")
    figure = new_figure(3.6)
    panels = {"characters_a_second": "target characters per second", "training_megabytes": "MB for training"}
    for axes, (column, label) in zip(figure.subplots(1, 2, sharey=True), panels.items(), strict=True):
        for number, length in enumerate(lengths):
            rows = rows_where(table, length=length)
            height = 0.8 / len(lengths)
            places = [
                systems.index(text_in(row, "system")) + (number - (len(lengths) - 1) / 2) * height for row in rows
            ]
            axes.barh(places, [row[column] for row in rows], height, label=f"{length} characters per sentence")
        axes.set(xlabel=label)
        axes.set_yticks(range(len(systems)), systems)
        axes.grid(alpha=0.3, axis="x")
    axes.invert_yaxis()
    legend_below(figure, handles_of([axes]))
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="family-training",
        is_thesis=False,
        title="The families of models: time and memory of a training step",
        needs=Needs(time={"smoke": "1 min", "cpu": "10 min", "thesis": "as cpu"}),
        basis=Basis("measured, other hardware", "d = 128 to 256, 2,560 characters a batch"),
        measure=measure,
        verdicts=verdicts,
        plot=plot,
    ),
)
