"""`bytenet benchmark pipeline`: how fast batches come, and how much of them is padding."""

import click

from bytenet.cli.benchmark.output import print_tables


@click.command()
@click.argument("preset_or_file", default="multi30k")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, as in `bytenet train`.")
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Turns of each stage.")
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
    from bytenet.profiling.benchmarks.pipeline import compare_bucketing, measure_pipeline

    pairs = load_corpus(data_config).train
    vocabulary = Vocabulary.from_pairs(pairs, data_config)
    padding = compare_bucketing(pair_lengths(pairs, vocabulary), data_config)
    rates = measure_pipeline(pairs, vocabulary, data_config, repeats)
    of_rates = {
        "stage": lambda rate: rate.stage,
        "pairs/s, median (least to most)": lambda rate: f"{rate.pairs_per_second:,.0f}",
        "characters/s": lambda rate: f"{rate.chars_per_second.median:,.0f}",
    }
    of_padding = {
        "bucketing": lambda cost: cost.bucketing,
        "buckets": lambda cost: cost.buckets,
        "batches": lambda cost: f"{cost.batches:,}",
        "least pairs in a bucket": lambda cost: f"{cost.least_pairs:,}",
        "padding": lambda cost: f"{cost.padding_share:.2%}",
        "times the optimal": lambda cost: "" if cost.times_optimal is None else f"{cost.times_optimal:.3f}",
    }
    print_tables({"rates": (rates, of_rates), "padding": (padding, of_padding)}, as_json)
