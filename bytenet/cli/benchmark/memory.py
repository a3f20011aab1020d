"""`bytenet benchmark memory`: the most memory that a training step needs."""

from itertools import product

import click

from bytenet.cli.benchmark.output import print_rows

_COLUMNS = {
    "case": lambda cost: cost.case,
    "weights": lambda cost: _megabytes(cost.parameter_bytes),
    "optimiser": lambda cost: _megabytes(cost.optimizer_bytes),
    "before the model": lambda cost: _megabytes(cost.before_bytes),
    "peak": lambda cost: _megabytes(cost.peak_bytes),
    "peak for training": lambda cost: _megabytes(cost.training_bytes),
    "peak on the GPU": lambda cost: "" if cost.gpu_peak_bytes is None else _megabytes(cost.gpu_peak_bytes),
}


@click.command()
@click.argument("presets_or_files", nargs=-1)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, as in `bytenet train`.")
@click.option("--variant", "variants", multiple=True, help="A variant; this and the next three may be repeated.")
@click.option("--dim", "dims", multiple=True, type=click.IntRange(min=2), help="Width of the encoder.")
@click.option("--batch-size", "batch_sizes", multiple=True, type=click.IntRange(min=1), help="Sentences a step.")
@click.option("--length", "lengths", multiple=True, type=click.IntRange(min=1), help="Ids a sentence.  [default: 100]")
@click.option("--largest", is_flag=True, help="Take the largest batch of the preset's corpus instead of a length.")
@click.option("--xla", is_flag=True, help="Compile the step; with --no-xla too, measure both.  [default: if possible]")
@click.option("--no-xla", is_flag=True, help="Do not compile it.")
@click.option("--vocab-size", type=click.IntRange(min=5), default=105, show_default=True, help="Symbols.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, with all numbers in bytes.")
def memory(
    presets_or_files: tuple[str, ...],
    overrides: tuple[str, ...],
    variants: tuple[str, ...],
    dims: tuple[int, ...],
    batch_sizes: tuple[int, ...],
    lengths: tuple[int, ...],
    largest: bool,
    xla: bool,
    no_xla: bool,
    vocab_size: int,
    as_json: bool,
) -> None:
    """Measure the most memory that training needs, in MB (10^6 bytes), by preset and batch.

    Every combination of what is repeated trains two steps in a process of its own, on random sentences of full
    length. Without PRESETS_OR_FILES it is the thesis's ByteNet (europarl).
    """
    if largest and (batch_sizes or lengths):
        raise click.UsageError("--largest takes batch size and length from the corpus; leave those options out.")
    from bytenet.cli.benchmark.cases import batch_size_of, compiled_choices, configurations

    configs = list(configurations(presets_or_files or ("europarl",), overrides, variants, dims))

    from bytenet.profiling.memory import measure_memory
    from bytenet.profiling.training import TrainingCase

    cases = []
    for config in configs:
        if largest:
            shapes = [_largest_batch(config)]
        else:
            shapes = [
                (batch_size, length)
                for length in lengths or (100,)
                for batch_size in batch_sizes or (batch_size_of(config, length),)
            ]
        for (batch_size, length), compiled in product(shapes, compiled_choices(config, xla, no_xla)):
            cases.append(TrainingCase(config, batch_size, length, compiled))
    costs = measure_memory(cases, vocab_size, say=lambda line: click.echo(line, err=True))
    print_rows(costs, _COLUMNS, as_json)


def _largest_batch(config) -> tuple[int, int]:
    """Rows and padded length of the batch with most positions, and of those the longest, that the corpus gives."""
    from bytenet.datasets import Vocabulary, pair_lengths, plan_from_config, read_corpus, select_training_pairs

    pairs = select_training_pairs(read_corpus(config.data).train, config.data)
    vocabulary = Vocabulary.from_texts(
        pairs.source, pairs.target, unknown=config.data.unknown, min_count=config.data.min_character_count
    )
    plan = plan_from_config(pair_lengths(pairs, vocabulary), config.data)
    bucket = max(plan.buckets, key=lambda bucket: (bucket.batch_size * bucket.upper, bucket.upper))
    return bucket.batch_size, bucket.upper


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f}"
