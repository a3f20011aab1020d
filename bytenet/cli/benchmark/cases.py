"""What the benchmarks of training make of their options."""

from collections.abc import Iterator, Sequence
from itertools import product

from bytenet.config import Config, load_config


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
