"""`bytenet benchmark decoding`: what a character of a translation costs."""

import click

from bytenet.cli.benchmark.output import print_rows


@click.command()
@click.argument("preset_or_file", default="multi30k")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, as in `bytenet train`.")
@click.option("--length", "lengths", multiple=True, type=click.IntRange(min=1), help="Characters; may be repeated.")
@click.option("--batch-size", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--beam-size", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--repeats", type=click.IntRange(min=1), default=7, show_default=True)
@click.option("--vocab-size", type=click.IntRange(min=4), default=105, show_default=True, help="Symbols.")
@click.option("--xla", is_flag=True, help="Compile the search.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def decoding(
    preset_or_file: str,
    overrides: tuple[str, ...],
    lengths: tuple[int, ...],
    batch_size: int,
    beam_size: int,
    repeats: int,
    vocab_size: int,
    xla: bool,
    as_json: bool,
) -> None:
    """Time the decoding of a character at several lengths (default 50, 200 and 800).

    The model is that of a preset or configuration file, untrained: the weights do not matter for the time.
    """
    from bytenet.config import load_config
    from bytenet.models import build_model
    from bytenet.profiling.decoding import measure_decoding

    model = build_model(load_config(preset_or_file, overrides).model, vocab_size)
    costs = measure_decoding(model, lengths or (50, 200, 800), batch_size, beam_size, repeats, xla)
    columns = {
        "length": lambda cost: cost.length,
        "ms a step, median (least to most)": lambda cost: cost.milliseconds,
        "against the first": lambda cost: f"{cost.milliseconds.median / costs[0].milliseconds.median:.2f}",
    }
    print_rows(costs, columns, as_json)
