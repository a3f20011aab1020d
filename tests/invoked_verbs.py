"""Subcommands that run in this process."""

from click.testing import CliRunner


def invoke_verb(verb, *arguments, stdin=b""):
    result = CliRunner().invoke(verb, [str(argument) for argument in arguments], input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
