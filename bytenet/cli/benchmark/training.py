"""`bytenet benchmark training`: what a training step costs."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import click

from bytenet.cli.benchmark.cases import (
    VOCAB_SIZE,
    batch_size_of,
    compiled_choices,
    configurations,
    training_case_options,
)
from bytenet.cli.benchmark.output import Columns, print_rows
from bytenet.cli.common.messages import say
from bytenet.cli.common.number_range import NumberRange

if TYPE_CHECKING:
    from bytenet.profiling.benchmarks.training_case import TrainingCase


@click.command()
@click.argument("preset_or_file", default="europarl")
@training_case_options
@click.option("--replicas", multiple=True, type=click.IntRange(min=1), help="Devices; may be repeated.  [default: 1]")
@click.option(
    "--workers", multiple=True, type=click.IntRange(min=2),
    help="Processes on this machine that share each batch, as with `bytenet launch`; may be repeated.",
)  # fmt: skip
@click.option(
    "--baseline", is_flag=True, help="Also measure the model in stock Keras layers, trained by the defaults of `fit`."
)
@click.option("--baseline-xla", is_flag=True, help="Also measure the model in stock Keras layers, compiled with XLA.")
@click.option(
    "--run-minutes", type=NumberRange(min=0, min_open=True),
    help="Length of a training run. The table then has the share of this time that compiling one batch shape takes.",
)  # fmt: skip
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Turns of each case.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, which has more columns.")
def training(
    preset_or_file: str,
    overrides: tuple[str, ...],
    variants: tuple[str, ...],
    dims: tuple[int, ...],
    batch_sizes: tuple[int, ...],
    lengths: tuple[int, ...],
    xla: bool,
    no_xla: bool,
    replicas: tuple[int, ...],
    workers: tuple[int, ...],
    baseline: bool,
    baseline_xla: bool,
    run_minutes: float | None,
    repeats: int,
    vocab_size: int | None,
    as_json: bool,
) -> None:
    """Time training steps on random sentences of full length. All combinations of repeated options take turns.

    PRESET_OR_FILE configures model and training. The default is the preset europarl, a ByteNet of the thesis's size.
    The options change single settings. XLA cannot compile the step of several devices or workers if batch
    normalisation uses the whole batch (training.sync_batch_norm).

    "peak" is the rate of a product of two float32 matrices of 2048 x 2048 numbers on one device, measured before every
    turn. "share of peak" is the step's rate of operations divided by it. There is no share for several GPUs and for
    training.mixed_precision, whose arithmetic differs.

    With --workers, the table has the share of the exchange instead: the time in which the workers add up a vector of
    the gradient's size, divided by the time of a step.
    """
    if workers and (replicas or baseline or baseline_xla or run_minutes):
        raise click.UsageError("--workers measures nothing else. Leave out --replicas, --baseline and --run-minutes.")
    configs = list(configurations([preset_or_file], overrides, variants, dims))

    from bytenet.profiling.benchmarks.training import measure_training
    from bytenet.profiling.benchmarks.training_case import TrainingCase

    symbols = vocab_size or VOCAB_SIZE
    workers = tuple(dict.fromkeys(workers))
    counts = workers or tuple(dict.fromkeys(replicas)) or (1,)
    cases = []
    for config, length in product(configs, lengths or (100,)):
        for batch_size in batch_sizes or (batch_size_of(config, length, counts),):
            for count in counts:
                for compiled in compiled_choices(config, xla, no_xla, count):
                    cases.append(TrainingCase(config, batch_size, length, compiled, count, vocab_size=symbols))
            for compiled in [False] * baseline + [True] * baseline_xla:
                cases.append(TrainingCase(config, batch_size, length, compiled, stock=True, vocab_size=symbols))
    if workers:
        _print_workers(cases, workers, repeats, as_json)
        return
    costs = measure_training(cases, repeats, say=say)
    print_rows(costs, _columns(run_minutes), as_json)


def _print_workers(cases: "Sequence[TrainingCase]", workers: Sequence[int], repeats: int, as_json: bool) -> None:
    """Measure each case with as many workers as it has replicas."""
    from bytenet.profiling.benchmarks.workers.training import measure_workers

    costs = []
    for count in workers:
        of_count = [case for case in cases if case.replicas == count]
        costs += measure_workers(of_count, count, repeats, say=say)
    columns: Columns = {
        "case": lambda cost: cost.case,
        "workers": lambda cost: cost.workers,
        "ms per step, median (min to max)": lambda cost: cost.seconds.scaled(1000),
        "MB of gradient": lambda cost: f"{cost.exchanged_megabytes:.1f}",
        "ms to exchange it": lambda cost: cost.exchange_seconds.scaled(1000),
        "share of exchange": lambda cost: f"{cost.share_of_exchange.median:.1%}",
    }
    print_rows(costs, columns, as_json)


def _columns(run_minutes: float | None) -> Columns:
    """The columns for rows of `TrainingCost`."""
    columns: dict[str, Callable[[Any], object]] = {
        "case": lambda cost: cost.case,
        "ms per step, median (min to max)": lambda cost: cost.seconds.scaled(1000),
        "pairs/s": lambda cost: f"{cost.observations.median:.1f}",
        "chars/s": lambda cost: f"{cost.characters.median:,.0f}",
        "GFLOP per step": lambda cost: f"{cost.gigaflops_a_step:.1f}",
        "peak GFLOP/s": lambda cost: f"{cost.peak_gigaflops.median:.0f}",
        "share of peak": lambda cost: "-" if cost.share_of_peak is None else f"{cost.share_of_peak.median:.3f}",
        "s to compile": lambda cost: f"{cost.compile_seconds:.1f}",
    }
    if run_minutes is not None:
        columns[f"of {run_minutes:g} min"] = lambda cost: f"{cost.compile_seconds / (60 * run_minutes):.1%}"
    columns["times stock"] = lambda cost: "" if cost.times_stock is None else f"{cost.times_stock.median:.2f}"
    return columns
