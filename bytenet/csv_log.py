"""Measurements as a CSV file that survives a killed and resumed run."""

import csv
from collections.abc import Sequence
from pathlib import Path

from bytenet.files import write_text_atomic


class CsvLog:
    """Rows of named numbers, one line each, appended as they are measured.

    Args:
        path: the file; made with a header line where it is not there.
        columns: names in order. "step" must be among them.
    """

    def __init__(self, path: Path, columns: Sequence[str]):
        self.path = path
        self.columns = list(columns)

    def append(self, row: dict[str, float | int | None]) -> None:
        """Add a row; values that are missing or None are left empty."""
        is_new = not self.path.exists()
        with open(self.path, "a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.columns, restval="", extrasaction="ignore")
            if is_new:
                writer.writeheader()
            writer.writerow({name: _shorten(value) for name, value in row.items()})

    def drop_after(self, step: int) -> None:
        """Forget what was measured after `step`, as a run that resumes there measures it again."""
        if not self.path.exists():
            return
        header, *lines = self.path.read_text(encoding="utf-8").split("\n")
        column = header.split(",").index("step")
        kept = [line for line in lines if _is_until(line, column, step)]
        write_text_atomic(self.path, "\n".join([header, *kept, ""]))


def read_csv_log(path: Path) -> dict[str, list[float]]:
    """The columns of a `CsvLog`; empty cells are NaN. An absent file has no columns."""
    if not path.exists():
        return {}
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name] or "nan") for row in rows] for name in (rows[0] if rows else ())}


def _is_until(line: str, column: int, step: int) -> bool:
    cells = line.split(",")
    return len(cells) > column and cells[column].isdigit() and int(cells[column]) <= step


def _shorten(value: float | int | None) -> float | int | str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else value
