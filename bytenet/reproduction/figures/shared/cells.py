"""Rows of result tables, and their cells with a type."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from bytenet.errors import InputError

Cell = float | int | str
_Row = TypeVar("_Row", bound=Mapping[str, Any])


def number_in(row: Mapping[str, Cell], column: str) -> float:
    """The number of a cell.

    Raises:
        InputError: the cell holds a text.
    """
    value = row[column]
    if isinstance(value, str):
        raise InputError(f"A result has {value!r} in its column {column!r}, where a number belongs. Measure it again.")
    return value


def integer_in(row: Mapping[str, Cell], column: str) -> int:
    """The whole number of a cell.

    Raises:
        InputError: the cell holds a text or a fraction.
    """
    value = number_in(row, column)
    if value != int(value):
        raise InputError(f"A result has {value!r} in its column {column!r}, where a whole number belongs.")
    return int(value)


def text_in(row: Mapping[str, Cell], column: str) -> str:
    """The text of a cell.

    Raises:
        InputError: the cell holds a number.
    """
    value = row[column]
    if not isinstance(value, str):
        raise InputError(f"A result has {value!r} in its column {column!r}, where a text belongs. Measure it again.")
    return value


def texts_in(rows: Iterable[Mapping[str, Cell]], column: str) -> list[str]:
    """The different texts of a column, in the order in which they first appear."""
    return list(dict.fromkeys(text_in(row, column) for row in rows))


def rows_where(rows: Iterable[_Row], **where: Cell) -> list[_Row]:
    """The rows that have the given values, by column."""
    return [row for row in rows if all(row[column] == value for column, value in where.items())]


def columns_of(rows: Sequence[Mapping[str, Cell]], **where: Cell) -> dict[str, np.ndarray]:
    """The columns of the rows that have the given values.

    Args:
        rows: the rows. At least one must have the values.
        where: values by column.

    Returns:
        By column, an array of shape `(rows,)`.
    """
    chosen = rows_where(rows, **where)
    return {column: np.array([row[column] for row in chosen]) for column in chosen[0]}
