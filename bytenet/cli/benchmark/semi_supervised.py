"""`bytenet benchmark semi-supervised`: what a step with monolingual text costs beside one on pairs only."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import click

from bytenet.cli.benchmark.output import print_tables

_PART_COLUMNS = {
    "part": lambda cost: cost.part,
    "beam": lambda cost: cost.beam_size or "",
    "text": lambda cost: cost.side or "",
    "batch": lambda cost: f"{cost.rows} x {cost.length}",
    "of the batches": lambda cost: f"{cost.share:.0%}",
    "ms, median (least to most)": lambda cost: cost.seconds.scaled(1000),
    "s to compile": lambda cost: f"{cost.compile_seconds:.1f}",
}


@click.command("semi-supervised")
@click.argument("preset_or_file", default="digits-semi")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, as in `bytenet train`.")
@click.option(
    "--beam", "beam_sizes", multiple=True, type=click.IntRange(min=1),
    help="Hypotheses of the search; may be repeated.  [default: as set]",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(min=1),
    help="Threads that TensorFlow computes with.  [default: TF_NUM_INTRAOP_THREADS, or all cores]",
)  # fmt: skip
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Turns of each measurement.")
@click.option("--json", "as_json", is_flag=True, help='Print a JSON object of two lists, "steps" and "parts".')
def semi_supervised(
    preset_or_file: str,
    overrides: tuple[str, ...],
    beam_sizes: tuple[int, ...],
    threads: int | None,
    repeats: int,
    as_json: bool,
) -> None:
    """Time training steps of two translators on pairs and monolingual text, and on pairs only.

    Model, corpus and batches are those of a run of the preset or configuration file, whose corpus is needed; a step
    is the mean over all its shapes of batches, as often as they come. Steps on pairs only are two supervised runs side
    by side; one such run, where semi_supervised.trained names one translator. `bytenet reproduce` trains the small runs
    of the thesis's grid with one thread each: --threads 1. Without training, the search goes on as long as it may;
    semi_supervised.start_forward and start_backward give it the models of a run.

    The second table has the parts of a step by shape. "search" is once more what "text and search" holds; a run
    compiles everything but that.
    """
    from bytenet.config import load_config

    config = load_config(preset_or_file, overrides)

    if threads is not None:  # TensorFlow reads it when it starts
        for name in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS"):
            os.environ[name] = str(threads)
    from bytenet.profiling.benchmarks.semi_supervised import PARTS, measure_semi_supervised

    steps, parts = measure_semi_supervised(config, beam_sizes, repeats, say=lambda line: click.echo(line, err=True))
    print_tables({"steps": (steps, _step_columns(PARTS)), "parts": (parts, _PART_COLUMNS)}, as_json)


def _step_columns(parts: Sequence[str]) -> dict[str, Callable[[Any], Any]]:
    return {
        "case": lambda cost: cost.case,
        "ms a step, median (least to most)": lambda cost: cost.seconds.scaled(1000),
        **{part: lambda cost, part=part: _milliseconds(cost.parts.get(part)) for part in parts},
        "s to compile": lambda cost: f"{cost.compile_seconds:.1f}",
        "times pairs only": lambda cost: "" if cost.beam_size is None else f"{cost.times_pairs_only:.2f}",
        "thesis": lambda cost: "" if cost.thesis_times is None else "{} to {}".format(*cost.thesis_times),
    }


def _milliseconds(spread) -> str:
    return "" if spread is None else f"{1000 * spread.median:.3g}"
