"""`bytenet benchmark semi-supervised`: what a step with monolingual text costs, compared with one on pairs only."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import click

from bytenet.cli.benchmark.output import Columns, print_tables
from bytenet.cli.common.messages import say
from bytenet.cli.common.set_option import set_option

_PART_COLUMNS: Columns = {
    "part": lambda cost: cost.part,
    "beam": lambda cost: cost.beam_size or "",
    "text": lambda cost: cost.side or "",
    "batch": lambda cost: f"{cost.rows} x {cost.length}",
    "of the batches": lambda cost: f"{cost.share:.0%}",
    "ms, median (min to max)": lambda cost: cost.seconds.scaled(1000),
    "s to compile": lambda cost: f"{cost.compile_seconds:.1f}",
}


@click.command("semi-supervised")
@click.argument("preset_or_file", default="digits-semi")
@set_option()
@click.option(
    "--beam", "beam_sizes", multiple=True, type=click.IntRange(min=1),
    help="Hypotheses of the search; may be repeated.  [default: semi_supervised.beam_size]",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(min=1),
    help="Threads of TensorFlow.  [default: TF_NUM_INTRAOP_THREADS, or all cores]",
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

    PRESET_OR_FILE configures model, corpus and batches; the corpus must be available. A step is the mean over all batch
    shapes of a run, weighted by their frequency. A step on pairs only is that of two supervised runs side by side, or
    of one if semi_supervised.trained names one translator. `bytenet reproduce` trains the small runs of the thesis's
    grid with one thread each: --threads 1. The search of an untrained model takes the most steps it can. To measure
    with trained models, set semi_supervised.start_forward and start_backward.

    The column "thesis" is the ratio of whole trainings in the author's data behind Madsen 2017, figure 3.6.2.

    The second table has the parts of a step by shape. "search" is a part of "text and search" that is timed once more
    by itself. A run does not compile it separately.
    """
    from bytenet.config import load_config

    config = load_config(preset_or_file, overrides)

    if threads is not None:  # TensorFlow reads these variables when it starts
        for name in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS"):
            os.environ[name] = str(threads)
    from bytenet.profiling.benchmarks.semi_supervised import PARTS, measure_semi_supervised

    steps, parts = measure_semi_supervised(config, beam_sizes, repeats, say=say)
    print_tables({"steps": (steps, _step_columns(PARTS)), "parts": (parts, _PART_COLUMNS)}, as_json)


def _step_columns(parts: Sequence[str]) -> Columns:
    return {
        "case": lambda cost: cost.case,
        "ms per step, median (min to max)": lambda cost: cost.seconds.scaled(1000),
        **{part: _part_column(part) for part in parts},
        "s to compile": lambda cost: f"{cost.compile_seconds:.1f}",
        "times pairs only": lambda cost: "" if cost.beam_size is None else f"{cost.times_pairs_only:.2f}",
        "thesis": lambda cost: "" if cost.thesis_times is None else "{} to {}".format(*cost.thesis_times),
    }


def _part_column(part: str) -> Callable[[Any], str]:
    return lambda cost: f"{1000 * cost.parts[part].median:.3g}" if part in cost.parts else ""
