"""Prints the results of a benchmark as tables or as JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from bytenet.cli.common.json_output import print_json

Columns = Mapping[str, Callable[[Any], object]]
"""Heading of each column of a table, and a function from a row to the cell."""


def print_rows(rows: Sequence[Any], columns: Columns, as_json: bool) -> None:
    """Print rows as a table, or as a JSON list of all their values.

    Args:
        rows: dataclasses.
        columns: columns of the table.
        as_json: whether to print JSON.
    """
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        _print_table(rows, columns)


def print_tables(tables: Mapping[str, tuple[Sequence[Any], Columns]], as_json: bool) -> None:
    """Print several lists of rows as tables with an empty line between them, or as one JSON object.

    Args:
        tables: by the name of the list in the JSON object, its rows and columns.
        as_json: whether to print JSON.
    """
    if as_json:
        print_json({name: [asdict(row) for row in rows] for name, (rows, _) in tables.items()})
        return
    for number, (rows, columns) in enumerate(tables.values()):
        if number:
            click.echo()
        _print_table(rows, columns)


def _print_table(rows: Sequence[Any], columns: Columns) -> None:
    table = [list(columns), *([str(cell(row)) for cell in columns.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
