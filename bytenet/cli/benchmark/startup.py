"""`bytenet benchmark startup`: the time from the command to the first training step."""

from collections.abc import Callable
from typing import Any

import click

from bytenet.cli.benchmark.output import Columns, print_rows
from bytenet.cli.common.messages import say
from bytenet.cli.common.set_option import set_option


@click.command()
@click.argument("preset_or_file", default="multi30k")
@set_option()
@click.option(
    "--no-xla",
    is_flag=True,
    help="Measure without XLA. Can be combined with the next two options.  [default: all three]",
)
@click.option("--empty-cache", is_flag=True, help="Measure with XLA and an empty compile cache.")
@click.option("--warm-cache", is_flag=True, help="Measure with XLA and a filled compile cache.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each way.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def startup(
    preset_or_file: str,
    overrides: tuple[str, ...],
    no_xla: bool,
    empty_cache: bool,
    warm_cache: bool,
    repeats: int,
    as_json: bool,
) -> None:
    """Time from the command `bytenet train PRESET_OR_FILE` to the end of its first step, in seconds.

    Real training runs are started, each in a process of its own, and ended after their first step. The corpus must be
    available.
    """
    from bytenet.profiling.benchmarks.startup import WAYS, measure_startup

    chosen = [way for way, is_chosen in zip(WAYS, (no_xla, empty_cache, warm_cache), strict=True) if is_chosen]
    costs = measure_startup(preset_or_file, overrides, chosen or WAYS, repeats, say=say)
    columns: Columns = {
        "way": lambda cost: cost.way,
        "seconds": lambda cost: f"{cost.seconds:.1f}",
        **{part: _part_column(part) for part in costs[0].parts},
    }
    print_rows(costs, columns, as_json)


def _part_column(part: str) -> Callable[[Any], str]:
    return lambda cost: f"{cost.parts[part]:.1f}"
