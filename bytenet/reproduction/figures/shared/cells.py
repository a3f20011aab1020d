"""Rows of result tables, and their cells with a type."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from bytenet.errors import InputError, shown
from bytenet.reproduction.engine.results import SavedRow

Cell = float | int | str
_Row = TypeVar("_Row", bound=Mapping[str, Any])


def number_in(row: Mapping[str, Cell], column: str) -> float:
    """The number of a cell.

    Raises:
        InputError: the cell holds a text, or a saved row has no such column.
    """
    value = row[column]
    if isinstance(value, str):
        raise _wrong_cell(row, column, "number")
    return value


def integer_in(row: Mapping[str, Cell], column: str) -> int:
    """The whole number of a cell.

    Raises:
        InputError: the cell holds a text or a fraction, or a saved row has no such column.
    """
    value = number_in(row, column)
    if not float(value).is_integer():
        raise _wrong_cell(row, column, "whole number")
    return int(value)


def text_in(row: Mapping[str, Cell], column: str) -> str:
    """The text of a cell.

    Raises:
        InputError: the cell holds a number, or a saved row has no such column.
    """
    value = row[column]
    if not isinstance(value, str):
        raise _wrong_cell(row, column, "text")
    return value


def _wrong_cell(row: Mapping[str, Cell], column: str, expected: str) -> InputError:
    return InputError(
        f"{_file_of(row)} has {shown(row[column])} in its column {column!r}, where a {expected} belongs. "
        "Measure it again."
    )


def _file_of(row: Mapping[str, Cell]) -> str:
    return str(row.path) if isinstance(row, SavedRow) else "A result"


def texts_in(rows: Iterable[Mapping[str, Cell]], column: str) -> list[str]:
    """The different texts of a column, in the order in which they first appear."""
    return list(dict.fromkeys(text_in(row, column) for row in rows))


def rows_where(rows: Iterable[_Row], **where: Cell) -> list[_Row]:
    """The rows that have the given values, by column.

    Raises:
        InputError: a saved row has no such column.
    """
    return [row for row in rows if all(row[column] == value for column, value in where.items())]


def columns_of(rows: Sequence[Mapping[str, Cell]], **where: Cell) -> dict[str, np.ndarray]:
    """The columns of the rows that have the given values.

    Args:
        rows: at least one row.
        where: values by column.

    Returns:
        By column, an array of shape `(rows,)`.

    Raises:
        InputError: no row has the values, or a saved row has no such column.
    """
    chosen = rows_where(rows, **where)
    if not chosen:
        values = " and ".join(f"{shown(value)} in its column {column!r}" for column, value in where.items())
        raise InputError(f"{_file_of(rows[0])} has no row with {values}. Measure it again.")
    return {column: np.array([row[column] for row in chosen]) for column in chosen[0]}
