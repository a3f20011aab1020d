"""`bytenet benchmark memory`: the peak memory of training."""

from itertools import product

import click

from bytenet.cli.benchmark.cases import (
    VOCAB_SIZE,
    batch_size_of,
    compiled_choices,
    configurations,
    training_case_options,
)
from bytenet.cli.benchmark.output import Columns, print_rows
from bytenet.cli.common.messages import say
from bytenet.config import Config

_COLUMNS: Columns = {
    "preset": lambda cost: cost.preset,
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
@training_case_options
@click.option("--largest", is_flag=True, help="Measure the largest batch of the preset's corpus, with its vocabulary.")
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
    vocab_size: int | None,
    as_json: bool,
) -> None:
    """Measure the peak memory of training, in MB (10^6 bytes), by preset and batch.

    PRESETS_OR_FILES configure model and training. The default is the preset europarl, a ByteNet of the thesis's size.
    Every combination of repeated options trains two steps in a process of its own, on random sentences of full length.
    """
    if largest and (batch_sizes or lengths or vocab_size):
        raise click.UsageError(
            "--largest takes batch size, length and vocabulary size from the corpus. Leave out --batch-size, --length "
            "and --vocab-size."
        )
    configs = [
        (preset, config)
        for preset in presets_or_files or ("europarl",)
        for config in configurations([preset], overrides, variants, dims)
    ]

    from bytenet.profiling.benchmarks.memory import measure_memory
    from bytenet.profiling.benchmarks.training_case import TrainingCase

    cases = []
    for preset, config in configs:
        if largest:
            sizes = [_largest_batch(config)]
        else:
            sizes = [
                (batch_size, length, vocab_size or VOCAB_SIZE)
                for length in lengths or (100,)
                for batch_size in batch_sizes or (batch_size_of(config, length),)
            ]
        for (batch_size, length, symbols), compiled in product(sizes, compiled_choices(config, xla, no_xla)):
            cases.append(TrainingCase(config, batch_size, length, compiled, vocab_size=symbols, preset=preset))
    costs = measure_memory(cases, say=say)
    print_rows(costs, _COLUMNS, as_json)


def _largest_batch(config: Config) -> tuple[int, int, int]:
    """Rows and padded length of the largest batch of a corpus, and the size of its vocabulary."""
    from bytenet.datasets import Vocabulary, pair_lengths, plan_from_config, read_corpus, training_pairs

    selected = training_pairs(read_corpus(config.data), config.data)
    vocabulary = Vocabulary.from_pairs(selected.once, config.data)
    bucket = plan_from_config(pair_lengths(selected.epoch, vocabulary), config.data).largest_bucket
    return bucket.batch_size, bucket.length, vocabulary.size


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f}"
