"""What the benchmarks of training make of their options."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import click

from bytenet.config import Config, load_config

VOCAB_SIZE = 105

_POSITIVE = click.IntRange(min=1)
_OPTIONS = (
    click.option(
        "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, as in `bytenet train`."
    ),
    click.option("--variant", "variants", multiple=True, help="A variant; this and the next three may be repeated."),
    click.option("--dim", "dims", multiple=True, type=click.IntRange(min=2), help="Width of the encoder."),
    click.option("--batch-size", "batch_sizes", multiple=True, type=_POSITIVE, help="Sentences a step."),
    click.option("--length", "lengths", multiple=True, type=_POSITIVE, help="Ids a sentence.  [default: 100]"),
    click.option(
        "--xla", is_flag=True, help="Compile the step; with --no-xla too, measure both.  [default: if possible]"
    ),
    click.option("--no-xla", is_flag=True, help="Do not compile it."),
    click.option("--vocab-size", type=click.IntRange(min=5), help=f"Symbols.  [default: {VOCAB_SIZE}]"),
)


def training_case_options(command: Callable) -> Callable:
    """Give a command the options that say which steps of which models are measured."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def configurations(
    presets_or_files: Sequence[str], overrides: Sequence[str], variants: Sequence[str], dims: Sequence[int]
) -> Iterator[Config]:
    """Every configuration with every variant and width; its own, where none is given.

    Raises:
        ConfigError: an unknown preset, setting, variant or width.
    """
    for preset, variant, dim in product(presets_or_files, _each("model.variant", variants), _each("model.dim", dims)):
        yield load_config(preset, [*overrides, *variant, *dim])


def batch_size_of(config: Config, length: int) -> int:
    """Sentences of `length` ids in a batch of a configuration."""
    chars = config.data.batch_chars
    return config.data.batch_size if chars is None else max(1, chars // length)


def compiled_choices(config: Config, xla: bool, no_xla: bool, replicas: int = 1) -> list[bool]:
    """Which ways to measure, uncompiled first: those asked for, as far as XLA can; or, of none, the configuration's."""
    can = replicas == 1 and not config.training.deterministic
    wanted = [False] * no_xla + [True] * xla or [config.training.jit_compile is not False]
    return sorted({choice and can for choice in wanted})


def _each(key: str, values: Sequence) -> list[list[str]]:
    """One list of settings for each value, or an empty one where there is nothing to choose."""
    return [[f"{key}={value}"] for value in values] or [[]]
