"""How a benchmark's rows are printed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click


def print_rows(rows: Sequence[Any], columns: Mapping[str, Any], as_json: bool) -> None:
    """Print rows as a JSON list of all they hold, or as a table of chosen columns.

    Args:
        rows: dataclasses.
        columns: heading of each column, and how its text is made from a row.
        as_json: which of the two.
    """
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    table = [list(columns), *([str(text(row)) for text in columns.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
