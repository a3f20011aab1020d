"""`bytenet benchmark startup`: from the command to the first training step."""

import click

from bytenet.cli.benchmark.output import print_rows


@click.command()
@click.argument("preset_or_file", default="multi30k")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, as in `bytenet train`.")
@click.option("--no-xla", is_flag=True, help="Measure without XLA. These three may be combined.  [default: all]")
@click.option("--empty-cache", is_flag=True, help="Measure with XLA that has nothing compiled yet.")
@click.option("--warm-cache", is_flag=True, help="Measure with XLA that finds everything compiled.")
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

    Real training runs are started and ended after their first step, each in a process of its own. The corpus of
    the preset has to be there.
    """
    from bytenet.profiling.benchmarks.startup import WAYS, measure_startup

    chosen = [way for way, wanted in zip(WAYS, (no_xla, empty_cache, warm_cache), strict=True) if wanted]
    costs = measure_startup(
        preset_or_file, overrides, chosen or WAYS, repeats, say=lambda line: click.echo(line, err=True)
    )
    columns = {"way": lambda cost: cost.way, "seconds": lambda cost: f"{cost.seconds:.1f}"}
    columns |= {part: lambda cost, part=part: f"{cost.parts[part]:.1f}" for part in costs[0].parts}
    print_rows(costs, columns, as_json)
