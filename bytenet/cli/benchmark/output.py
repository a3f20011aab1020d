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
    else:
        _print_table(rows, columns)


def print_tables(tables: Mapping[str, tuple[Sequence[Any], Mapping[str, Any]]], as_json: bool) -> None:
    """Print several lists of rows as `print_rows` does, with an empty line between them.

    Args:
        tables: rows and columns, by the names that the lists have in a JSON object.
        as_json: print that.
    """
    if as_json:
        lists = {name: [asdict(row) for row in rows] for name, (rows, _) in tables.items()}
        click.echo(json.dumps(lists, indent=2))
        return
    for number, (rows, columns) in enumerate(tables.values()):
        if number:
            click.echo()
        _print_table(rows, columns)


def _print_table(rows: Sequence[Any], columns: Mapping[str, Any]) -> None:
    table = [list(columns), *([str(text(row)) for text in columns.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
