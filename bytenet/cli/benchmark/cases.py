"""Options of the benchmarks that measure training steps, and the cases that they describe."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product
from math import lcm
from typing import Any

import click

from bytenet.cli.common.set_option import set_option
from bytenet.config import Config, load_config

VOCAB_SIZE = 105

_POSITIVE = click.IntRange(min=1)
_OPTIONS = (
    set_option(),
    click.option("--variant", "variants", multiple=True, help="Variant of the model; may be repeated."),
    click.option(
        "--dim", "dims", multiple=True, type=click.IntRange(min=2), help="Width of the encoder; may be repeated."
    ),
    click.option(
        "--batch-size", "batch_sizes", multiple=True, type=_POSITIVE, help="Sentences a step; may be repeated."
    ),
    click.option(
        "--length", "lengths", multiple=True, type=_POSITIVE, help="Ids a sentence; may be repeated.  [default: 100]"
    ),
    click.option(
        "--xla",
        is_flag=True,
        help="Compile the step with XLA. With --no-xla too, measure both.  [default: if possible]",
    ),
    click.option("--no-xla", is_flag=True, help="Do not compile the step."),
    click.option(
        "--vocab-size",
        type=click.IntRange(min=5),
        help=f"Ids in the random text, with padding, end and unknown symbols.  [default: {VOCAB_SIZE}]",
    ),
)


def training_case_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that describe training cases to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def configurations(
    presets_or_files: Sequence[str], overrides: Sequence[str], variants: Sequence[str], dims: Sequence[int]
) -> Iterator[Config]:
    """Every configuration with every variant and width.

    Args:
        presets_or_files: the configurations.
        overrides: settings, each as `section.key=value`.
        variants, dims: values of `model.variant` and `model.dim`; none keeps the configuration's own.

    Raises:
        ConfigError: a preset, setting, variant or width is unknown.
    """
    for preset, variant, dim in product(presets_or_files, _each("model.variant", variants), _each("model.dim", dims)):
        yield load_config(preset, [*overrides, *variant, *dim])


def batch_size_of(config: Config, length: int, replicas: Collection[int] = (1,)) -> int:
    """Number of sentences of `length` ids in a batch; reads `data.batch_chars` and `data.batch_size`.

    Args:
        config: of the training.
        length: of each sentence, with the end symbol.
        replicas: numbers of devices that are to share the batch evenly. As in training, the number of sentences that
            follows from `data.batch_chars` is rounded down for them.
    """
    chars, multiple = config.data.batch_chars, lcm(*replicas)
    return config.data.batch_size if chars is None else max(1, chars // length // multiple) * multiple


def compiled_choices(config: Config, xla: bool, no_xla: bool, replicas: int = 1) -> list[bool]:
    """Whether to measure without XLA (False), with XLA (True), or both.

    Args:
        config: decides if neither option is given (`training.jit_compile`). XLA cannot compile a step with
            `training.deterministic`.
        xla, no_xla: the options.
        replicas: devices. XLA cannot compile the step of several if batch normalisation uses the whole batch.
    """
    can_compile = not config.training.deterministic and (replicas == 1 or not config.has_joint_statistics)
    choices = [False] * no_xla + [True] * xla or [config.training.jit_compile is not False]
    return sorted({choice and can_compile for choice in choices})


def _each(key: str, values: Sequence) -> list[list[str]]:
    """For each value, a list with its setting; one empty list if there are no values."""
    return [[f"{key}={value}"] for value in values] or [[]]
