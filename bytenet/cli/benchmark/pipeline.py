"""`bytenet benchmark pipeline`: how fast the batches are made, and how much of them is padding."""

import click

from bytenet.cli.benchmark.output import Columns, print_tables
from bytenet.cli.common.set_option import set_option


@click.command()
@click.argument("preset_or_file", default="multi30k")
@set_option()
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Turns of each stage.")
@click.option("--json", "as_json", is_flag=True, help='Print a JSON object of two lists, "rates" and "padding".')
def pipeline(preset_or_file: str, overrides: tuple[str, ...], repeats: int, as_json: bool) -> None:
    """Time the input pipeline of `bytenet train`, with shuffled and bucketed batches but without a model.

    PRESET_OR_FILE configures the data; its corpus must be available. The second table compares bucketing methods: the
    configured one, and each method with as many buckets as "histogram" makes. "times the optimal" compares their
    padding with the least possible for the same number of buckets, if buckets may have any size (last row).
    """
    from bytenet.config import load_config

    data_config = load_config(preset_or_file, overrides).data

    from bytenet.datasets import Vocabulary, pair_lengths, read_corpus, training_pairs
    from bytenet.profiling.benchmarks.pipeline import compare_bucketing, measure_pipeline

    selected = training_pairs(read_corpus(data_config), data_config)
    vocabulary, pairs = Vocabulary.from_pairs(selected.once, data_config), selected.epoch
    padding = compare_bucketing(pair_lengths(pairs, vocabulary), data_config)
    rates = measure_pipeline(pairs, vocabulary, data_config, repeats)
    rate_columns: Columns = {
        "stage": lambda rate: rate.stage,
        "pairs/s, median (min to max)": lambda rate: f"{rate.pairs_per_second:,.0f}",
        "characters/s": lambda rate: f"{rate.chars_per_second.median:,.0f}",
    }
    padding_columns: Columns = {
        "bucketing": lambda cost: cost.bucketing,
        "buckets": lambda cost: cost.buckets,
        "batches": lambda cost: f"{cost.batches:,}",
        "least pairs in a bucket": lambda cost: f"{cost.least_pairs:,}",
        "padding": lambda cost: f"{cost.padding_share:.2%}",
        "times the optimal": lambda cost: "" if cost.times_optimal is None else f"{cost.times_optimal:.3f}",
    }
    print_tables({"rates": (rates, rate_columns), "padding": (padding, padding_columns)}, as_json)
