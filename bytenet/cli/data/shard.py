"""`bytenet data shard`: split a corpus into shards."""

import math
import os
import time
from dataclasses import asdict

import click

from bytenet.cli.common.json_output import print_json
from bytenet.cli.common.max_ratio_option import max_ratio_option
from bytenet.cli.common.messages import say
from bytenet.cli.common.number_range import NumberRange
from bytenet.cli.common.shards_option import MOST_SHARDS, shards_option
from bytenet.errors import InputError

_PAIRS_A_MESSAGE = 1_000_000


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.argument("folder")
@click.option("--source-language", default="de", show_default=True, help="Language of the sources.")
@click.option("--target-language", default="en", show_default=True, help="Language of the targets.")
@shards_option("Number of shards.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the order.")
@click.option(
    "--min-length",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Smallest number of characters on a side.",
)
@click.option(
    "--max-length",
    type=click.IntRange(1, 65535),
    default=500,
    show_default=True,
    help="Largest number of characters on a side.",
)
@max_ratio_option
@click.option("--min-letters", type=NumberRange(0, 1), help="Smallest share of letters on each side.")
@click.option("--keep-odd-characters", is_flag=True, help="Keep pairs with control, private and damaged characters.")
@click.option("--keep-identical", is_flag=True, help="Keep pairs whose sides are equal.")
@click.option("--keep-duplicates", is_flag=True, help="Keep pairs that occurred before.")
@click.option(
    "--duplicates-mb",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help="Memory of the table that finds duplicates, which remembers about 98,000 pairs a MB.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=0),
    help="Processes that write, beside the one that reads.  [default: 1; 2 from four cores on]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def shard(
    inputs: tuple[str, ...],
    folder: str,
    source_language: str,
    target_language: str,
    shards: int,
    seed: int,
    min_length: int,
    max_length: int,
    max_ratio: float,
    min_letters: float | None,
    keep_odd_characters: bool,
    keep_identical: bool,
    keep_duplicates: bool,
    duplicates_mb: int,
    processes: int | None,
    as_json: bool,
) -> None:
    """Split the pairs of INPUT... at random into the new FOLDER, from which `bytenet train` reads them.

    An INPUT is a .zip as OPUS gives it (Moses format), lines "source TAB target" as .tsv or .tsv.gz, or - for such
    lines on standard input. Give other text files, plain or .gz, in pairs: first the sources, then the targets. Several
    inputs are read one after the other.

    The command reads the text once, in bounded memory. The report says which pairs were left out and why, with
    examples. Then train with:

    \b
      data:
        corpus: shards
        train_shards: FOLDER
    """
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(
            f"{folder} is a file, but the last argument must be the new folder for the shards. Add the folder at the "
            "end."
        )

    from bytenet.datasets.shards.sharding.filters import FilterSettings
    from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus

    if processes is None:
        processes = 1 if len(os.sched_getaffinity(0)) < 4 else 2
    settings = FilterSettings(
        min_length=min_length,
        max_length=max_length,
        max_ratio=None if math.isinf(max_ratio) else max_ratio,
        min_letters=min_letters,
        odd_characters=not keep_odd_characters,
        identical=not keep_identical,
        duplicates=not keep_duplicates,
    )
    began = time.monotonic()
    last_report = 0

    def progress(pairs: int) -> None:
        nonlocal last_report
        if pairs - last_report >= _PAIRS_A_MESSAGE:
            last_report = pairs
            say(f"{pairs:,} pairs read, {pairs / (time.monotonic() - began):,.0f} a second")

    languages = source_language, target_language
    report = shard_corpus(inputs, folder, languages, settings, shards, seed, duplicates_mb, processes, progress)
    if as_json:
        print_json(asdict(report))
    else:
        for line in report.lines():
            click.echo(line)
    if advice := report.advice(MOST_SHARDS):
        say(advice)
    seconds = time.monotonic() - began
    say(f"{report.read / seconds:,.0f} pairs per second. Saved in {folder}.")
