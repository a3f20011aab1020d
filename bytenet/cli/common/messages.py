"""Messages to the user."""

import click


def say(line: str) -> None:
    """Print a line on standard error. Standard output is for results."""
    click.echo(line, err=True)


def lines_in_words(number: int) -> str:
    """A number of lines, as "1 line" or "1,234 lines"."""
    return "1 line" if number == 1 else f"{number:,} lines"
