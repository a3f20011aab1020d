"""Messages to the user."""

import click


def say(line: str) -> None:
    """Print a line on standard error. Standard output is for results."""
    click.echo(line, err=True)
