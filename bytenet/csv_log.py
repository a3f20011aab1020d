"""Measurements as a CSV file that survives a full disk and a killed and resumed run."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from bytenet.files import append_text, write_text_atomic


class CsvLog:
    """Rows of named numbers, one line each, written as they are measured. The file never ends with half a line.

    Args:
        path: the file; made with a header line if it does not exist.
        columns: their names in order, including "step".
    """

    def __init__(self, path: Path, columns: Sequence[str]):
        self.path = path
        self.columns = list(columns)
        self._has_columns = False  # whether the file was seen to have these columns

    def append(self, row: Mapping[str, float | None]) -> None:
        """Add a row. Missing values and None become empty cells.

        Raises:
            InputError: the disk is full; the file is unchanged.
        """
        line = ",".join(_shorten(row.get(name)) for name in self.columns)
        if self._has_columns and self.path.exists():
            append_text(self.path, f"{line}\n")
        else:
            self._write([*self._lines(), line])

    def drop_after(self, step: int) -> None:
        """Remove the rows after `step`. A run that resumes at this step measures them again."""
        column = self.columns.index("step")
        lines = self._lines()
        kept = [line for line in lines if int(line.split(",")[column]) <= step]
        if len(kept) < len(lines):
            self._write(kept)

    def _lines(self) -> list[str]:
        """The rows of the file without the header, in the columns of this log. An earlier run may have had others."""
        if not self.path.exists():
            return []
        header, *lines = self.path.read_text(encoding="utf-8").split("\n")[:-1]
        if header == ",".join(self.columns):
            return lines
        rows = (dict(zip(header.split(","), line.split(","), strict=True)) for line in lines)
        return [",".join(row.get(name, "") for name in self.columns) for row in rows]

    def _write(self, lines: list[str]) -> None:
        write_text_atomic(self.path, "".join(f"{line}\n" for line in [",".join(self.columns), *lines]))
        self._has_columns = True


def read_csv_log(path: Path) -> dict[str, list[float]]:
    """The columns of a `CsvLog`, with NaN for empty cells; no columns if the file does not exist."""
    if not path.exists():
        return {}
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name] or "nan") for row in rows] for name in (rows[0] if rows else ())}


def _shorten(value: float | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
