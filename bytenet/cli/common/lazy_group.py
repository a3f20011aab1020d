"""A command group that imports the module of a command when the command is called."""

from importlib import import_module

import click

from bytenet.errors import nearest


class LazyGroup(click.Group):
    """A group whose commands are modules of one package. Only the module of the called command is imported.

    The package has, for the command `some-verb`, a module `some_verb` with a click command of that name.

    Args:
        package: full name of the package.
        verbs: name of each command, and its line in the group's help.
    """

    def __init__(self, *args, package: str, verbs: dict[str, str], **kwargs):
        super().__init__(*args, **kwargs)
        self._package = package
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._verbs)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._verbs:
            return None
        module = name.replace("-", "_")
        command = getattr(import_module(f"{self._package}.{module}"), module)
        command.short_help = self._verbs[name]  # for the completion of a shell
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(error.message + nearest(args[0], self._verbs), ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._verbs.items()))
