"""Options that take several values. click's own take one value each time they are given."""

from collections.abc import Collection, Sequence

import click

from bytenet.cli.common.single_option import SingleOption


class SeveralValuesCommand(click.Command):
    """A command whose `multiple` options take all arguments up to the next option.

    `--with B1 B2` means `--with B1 --with B2`, so that a pattern of the shell, such as `--with runs/b-*`, gives all its
    files.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = [
            option
            for option in self.params
            if isinstance(option, click.Option) and option.multiple and not isinstance(option, SingleOption)
        ]
        return super().parse_args(ctx, _repeated(args, {name for option in options for name in option.opts}))


def _repeated(arguments: Sequence[str], names: Collection[str]) -> list[str]:
    """The arguments with the name of a `multiple` option in front of each of its values.

    Raises:
        click.BadOptionUsage: it has no value. Otherwise click would read the next option as the value.
    """
    result: list[str] = []
    name = None
    for argument in arguments:
        if argument.startswith("-"):
            if name is not None and result[-1] == name:
                raise click.BadOptionUsage(name, f"Option '{name}' requires an argument.")
            option = argument.partition("=")[0]
            name = option if option in names else None
        elif name is not None and result[-1] != name:
            result.append(name)
        result.append(argument)
    return result
