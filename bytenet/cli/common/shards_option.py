"""The option for the number of shards."""

from collections.abc import Callable
from typing import Any

import click

MOST_SHARDS = 512
"""Each shard has two open files while it is written, and Linux allows a process 1,024 by default."""


def shards_option(text: str) -> Callable[[Any], Any]:
    """The option `--shards NUMBER` with a help text."""
    return click.option("--shards", type=click.IntRange(1, MOST_SHARDS), default=64, show_default=True, help=text)
