"""The option that changes settings of a preset or a file."""

from collections.abc import Callable
from typing import Any

import click


def set_option(example: str | None = None) -> Callable[[Any], Any]:
    """The option `--set KEY=VALUE`, whose values arrive as `overrides`.

    Args:
        example: a change for the help text. None refers to `bytenet train`.
    """
    text = "as in `bytenet train`." if example is None else f"for example --set {example}. May be given several times."
    return click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help=f"Change a setting, {text}")
