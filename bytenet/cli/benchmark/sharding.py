"""`bytenet benchmark sharding`: corpora larger than memory."""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from bytenet.cli.benchmark.output import Columns, print_tables
from bytenet.cli.common.messages import say
from bytenet.cli.common.set_option import set_option
from bytenet.cli.common.shards_option import shards_option

_COSTS: Columns = {
    "pairs": lambda cost: f"{cost.pairs:,}",
    "sharded, pairs/s": lambda cost: f"{cost.sharded_pairs_per_second:,.0f}",
    "peak MB": lambda cost: f"{cost.sharding_peak_bytes / 1e6:,.0f}",
    "read, pairs/s": lambda cost: f"{cost.read_pairs_per_second:,.0f}",
    "peak MB of reading": lambda cost: f"{cost.reading_peak_bytes / 1e6:,.0f}",
    "files MB": lambda cost: f"{cost.shard_bytes / 1e6:,.0f}",
}
_RATES: Columns = {
    "training from": lambda rate: rate.pairs_from,
    "padded target characters/s, median (min to max)": lambda rate: f"{rate.positions_per_second:,.0f}",
    "times memory": lambda rate: f"{rate.ratio:.3f}",
}


@click.command()
@click.argument("preset_or_file", default="multi30k")
@set_option()
@click.option(
    "--pairs", "sizes", type=click.IntRange(min=1000), multiple=True, help="Size of a corpus.  [default: 1000000]"
)
@shards_option("Shards of each corpus.")
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that write.")
@click.option(
    "--steps", type=click.IntRange(min=0), default=100, show_default=True, help="Steps of a turn; 0: no training."
)
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Turns of each training.")
@click.option(
    "--work", type=click.Path(path_type=Path), help="Keep text and shards in this folder, which must be new or empty."
)
@click.option("--json", "as_json", is_flag=True, help='Print a JSON object of the lists "sizes" and "training".')
def sharding(
    preset_or_file: str,
    overrides: tuple[str, ...],
    sizes: tuple[int, ...],
    shards: int,
    processes: int,
    steps: int,
    repeats: int,
    work: Path | None,
    as_json: bool,
) -> None:
    """Shard corpora of given sizes, read an epoch of each, and train from shards and from memory.

    The corpora are made from the pairs of PRESET_OR_FILE, with a number at each sentence's end. One pair in a hundred
    has a known fault, and the sharding must leave out exactly these. Text and shards of 20 million pairs take 6 GB of
    disk. To compare memory, give all sizes shards of one size: --pairs 10000000 --shards 32, then --pairs 20000000
    --shards 64.
    """
    from bytenet.config import load_config
    from bytenet.output_paths import check_new_or_empty

    if work is not None:
        check_new_or_empty(work, "text and shards (--work)")
    config = load_config(preset_or_file, overrides)

    from bytenet.datasets import load_corpus
    from bytenet.profiling.benchmarks.sharding.measure import measure_sharding
    from bytenet.profiling.benchmarks.training_case import refuse_accumulation, refuse_semi_supervised, refuse_start

    if steps:  # before the sharding, which takes long
        refuse_semi_supervised(config)
        refuse_accumulation(config)
        refuse_start(config)
    pairs = load_corpus(config.data).train
    with ExitStack() as stack:
        folder = work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        costs = measure_sharding(
            pairs,
            config.data,
            folder,
            tuple(dict.fromkeys(sizes)) or (1_000_000,),
            shards,
            processes,
            say,
        )
        rates = []
        if steps:
            from bytenet.profiling.benchmarks.sharding.training import compare_training

            say("training ...")
            rates = compare_training(pairs, config, folder, steps, repeats)
    tables: dict[str, tuple[Sequence[Any], Columns]] = {"sizes": (costs, _COSTS)}
    if rates:
        tables["training"] = rates, _RATES
    print_tables(tables, as_json)
