"""`bytenet benchmark decoding`: what decoding a character costs."""

from itertools import product

import click

from bytenet.cli.benchmark.cases import VOCAB_SIZE
from bytenet.cli.benchmark.output import print_rows
from bytenet.cli.common.set_option import set_option

_POSITIVE = click.IntRange(min=1)


@click.command()
@click.argument("preset_or_file", default="multi30k")
@set_option()
@click.option(
    "--length", "lengths", multiple=True, type=_POSITIVE, default=(50, 200, 800), show_default=True,
    help="Characters a sentence; may be repeated.",
)  # fmt: skip
@click.option(
    "--batch-size", "batch_sizes", multiple=True, type=_POSITIVE, default=(1,), show_default=True,
    help="Sentences at once; may be repeated.",
)  # fmt: skip
@click.option(
    "--beam-size", "beam_sizes", multiple=True, type=_POSITIVE, default=(1,), show_default=True,
    help="1 is greedy search; may be repeated.",
)  # fmt: skip
@click.option("--xla/--no-xla", default=None, help="Compile the search with XLA, or not.  [default: both]")
@click.option("--uncached", is_flag=True, help="Also measure greedy search without the cache.")
@click.option("--repeats", type=_POSITIVE, default=7, show_default=True, help="Turns of each case.")
@click.option(
    "--vocab-size", type=click.IntRange(min=4), default=VOCAB_SIZE, show_default=True, help="Ids of the model."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def decoding(
    preset_or_file: str,
    overrides: tuple[str, ...],
    lengths: tuple[int, ...],
    batch_sizes: tuple[int, ...],
    beam_sizes: tuple[int, ...],
    xla: bool | None,
    uncached: bool,
    repeats: int,
    vocab_size: int,
    as_json: bool,
) -> None:
    """Time the decoding of a character for every combination of length, batch and beam.

    PRESET_OR_FILE configures the model. It is untrained, since the weights do not affect the time. With
    training.mixed_precision it computes in bfloat16, as such a run does when it translates. All searches take turns,
    so their ratios hold even if the machine's speed drifts.

    With --uncached there are two more methods: greedy search on the prefix as it grows, and on the prefix padded to
    its final length, which XLA can compile once. Compare the cached search with the faster of them.
    """
    from bytenet.config import load_config

    config = load_config(preset_or_file, overrides)

    from bytenet.models import build_model
    from bytenet.profiling.benchmarks.decoding import DecodingCase, measure_decoding
    from bytenet.profiling.benchmarks.training_case import refuse_start
    from bytenet.training.compiled_models.trainable_model import set_up_keras

    refuse_start(config)
    set_up_keras(config)
    model = build_model(config.model, vocab_size)
    compilers = (False, True) if xla is None else (xla,)
    cases = [DecodingCase(*case) for case in product(lengths, batch_sizes, beam_sizes, compilers)]
    if uncached:
        for length, batch_size in product(lengths, batch_sizes):
            cases.append(DecodingCase(length, batch_size, method="growing prefix"))
            cases += [DecodingCase(length, batch_size, 1, compiler, "fixed length") for compiler in compilers]
    costs = measure_decoding(model, list(dict.fromkeys(cases)), repeats)
    columns = {
        "length": lambda cost: cost.case.length,
        "batch": lambda cost: cost.case.batch_size,
        "beam": lambda cost: cost.case.beam_size,
        "method": lambda cost: cost.case.method,
        "XLA": lambda cost: "yes" if cost.case.jit_compile else "no",
        "compile s": lambda cost: f"{cost.compile_seconds:.1f}",
        "ms per step, median (min to max)": lambda cost: cost.milliseconds,
        "characters/s": lambda cost: f"{cost.characters_per_second:,.0f}",
        "time / time of the first row": lambda cost: f"{cost.milliseconds.median / costs[0].milliseconds.median:.2f}",
    }
    print_rows(costs, columns, as_json)
