"""`bytenet benchmark pipeline`: how fast batches come, and how much of them is padding."""

import json
from dataclasses import asdict

import click

from bytenet.cli.benchmark.output import print_rows


@click.command()
@click.argument("preset_or_file", default="multi30k")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, as in `bytenet train`.")
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True, help='Print a JSON object of two lists, "rates" and "padding".')
def pipeline(preset_or_file: str, overrides: tuple[str, ...], repeats: int, as_json: bool) -> None:
    """Time the batches of a preset or configuration file as `bytenet train` gets them, shuffled and bucketed.

    Its corpus is needed. No model is made: whatever a training step takes on top of this is the model's. The second
    table compares ways of bucketing: the one that is set, and each with as many buckets as "histogram" makes. The
    optimum they are measured against is that of as many buckets of any size, the last row.
    """
    from bytenet.config import load_config

    data_config = load_config(preset_or_file, overrides).data

    from bytenet.datasets import Vocabulary, load_corpus, pair_lengths
    from bytenet.profiling.pipeline import compare_bucketing, measure_pipeline

    pairs = load_corpus(data_config).train
    vocabulary = Vocabulary.from_pairs(pairs, data_config)
    padding = compare_bucketing(pair_lengths(pairs, vocabulary), data_config)
    rates = measure_pipeline(pairs, vocabulary, data_config, repeats)
    if as_json:
        results = {"rates": rates, "padding": padding}
        click.echo(json.dumps({name: [asdict(row) for row in rows] for name, rows in results.items()}, indent=2))
        return
    columns = {
        "stage": lambda rate: rate.stage,
        "pairs/s, median (least to most)": lambda rate: _whole(rate.pairs_per_second),
        "characters/s": lambda rate: f"{rate.chars_per_second.median:,.0f}",
    }
    print_rows(rates, columns, as_json=False)
    click.echo()
    columns = {
        "bucketing": lambda cost: cost.bucketing,
        "buckets": lambda cost: cost.buckets,
        "batches": lambda cost: f"{cost.batches:,}",
        "least pairs in a bucket": lambda cost: f"{cost.least_pairs:,}",
        "padding": lambda cost: f"{cost.padding_share:.2%}",
        "times the optimal": lambda cost: "" if cost.times_optimal is None else f"{cost.times_optimal:.3f}",
    }
    print_rows(padding, columns, as_json=False)


def _whole(spread) -> str:
    return f"{spread.median:,.0f} ({spread.least:,.0f} to {spread.most:,.0f})"
