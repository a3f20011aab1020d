"""Measurements as a CSV file that survives a full disk and a killed and resumed run."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from bytenet.files import append_text, write_text_atomic


class CsvLog:
    """Rows of named numbers, one line each, added as they are measured.

    There is never half a line.

    Args:
        path: the file; made with a header line where it is not there.
        columns: names in order. "step" must be among them.
    """

    def __init__(self, path: Path, columns: Sequence[str]):
        self.path = path
        self.columns = list(columns)
        self._has_columns = False  # whether the file, if it is there, is known to have these

    def append(self, row: Mapping[str, float | None]) -> None:
        """Add a row; values that are missing or None are left empty.

        Raises:
            InputError: the disk is full; the file is as it was.
        """
        line = ",".join(_shorten(row.get(name)) for name in self.columns)
        if self._has_columns and self.path.exists():
            append_text(self.path, f"{line}\n")
        else:
            self._write([*self._lines(), line])

    def drop_after(self, step: int) -> None:
        """Forget what was measured after `step`, as a run that resumes there measures it again."""
        column = self.columns.index("step")
        lines = self._lines()
        kept = [line for line in lines if int(line.split(",")[column]) <= step]
        if len(kept) < len(lines):
            self._write(kept)

    def _lines(self) -> list[str]:
        """The rows there are, without the header, in this log's columns, which a resumed run may have changed."""
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
    """The columns of a `CsvLog`; empty cells are NaN. An absent file has no columns."""
    if not path.exists():
        return {}
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name] or "nan") for row in rows] for name in (rows[0] if rows else ())}


def _shorten(value: float | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
