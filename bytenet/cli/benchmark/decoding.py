"""`bytenet benchmark decoding`: what a character of a translation costs."""

from itertools import product

import click

from bytenet.cli.benchmark.output import print_rows

_POSITIVE = click.IntRange(min=1)


@click.command()
@click.argument("preset_or_file", default="multi30k")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, as in `bytenet train`.")
@click.option(
    "--length", "lengths", multiple=True, type=_POSITIVE, default=(50, 200, 800), show_default=True,
    help="Characters to decode; may be repeated.",
)  # fmt: skip
@click.option(
    "--batch-size", "batch_sizes", multiple=True, type=_POSITIVE, default=(1,), show_default=True,
    help="Sentences at once; may be repeated.",
)  # fmt: skip
@click.option(
    "--beam-size", "beam_sizes", multiple=True, type=_POSITIVE, default=(1,), show_default=True,
    help="1 is greedy search; may be repeated.",
)  # fmt: skip
@click.option("--xla/--no-xla", default=None, help="Compile the search, or do not; both where neither is given.")
@click.option("--uncached", is_flag=True, help="Also greedy search that runs the whole prefix again at each character.")
@click.option("--repeats", type=_POSITIVE, default=7, show_default=True, help="Turns of each case.")
@click.option("--vocab-size", type=click.IntRange(min=4), default=105, show_default=True, help="Symbols.")
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
    """Time the decoding of a character, by every combination of length, batch and beam.

    The model is that of a preset or configuration file, untrained: the weights do not matter for the time. It
    computes in bfloat16 where training.mixed_precision is set, as the model of such a run does when translating. All
    searches take turns in one run, so their ratios hold even where the machine's speed drifts. What the cache saves
    (--uncached) is to be read against the cheaper of the two ways to do without it: on the prefix as it grows, or
    padded to its final length, which XLA can compile once.
    """
    from bytenet.config import load_config

    config = load_config(preset_or_file, overrides)

    from bytenet.models import build_model
    from bytenet.profiling.benchmarks.decoding import DecodingCase, measure_decoding
    from bytenet.training.trainable_model import set_up_keras

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
        "ms a step, median (least to most)": lambda cost: cost.milliseconds,
        "characters/s": lambda cost: f"{cost.characters_per_second:,.0f}",
        "against the first": lambda cost: f"{cost.milliseconds.median / costs[0].milliseconds.median:.2f}",
    }
    print_rows(costs, columns, as_json)
