"""Which options of a command the user gives."""

from collections.abc import Collection

import click
from click.core import ParameterSource


def given_option(context: click.Context, names: Collection[str]) -> str | None:
    """An option that the user gives, such as "--link", among those of some parameters.

    It is the first one in the order of the help. None: the user gives none of them.
    """
    for option in context.command.params:
        if option.name in names and context.get_parameter_source(option.name) is not ParameterSource.DEFAULT:
            return option.opts[0]
    return None
