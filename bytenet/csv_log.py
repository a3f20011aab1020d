"""Measurements as a CSV file that survives a full disk and a killed and resumed run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bytenet.errors import InputError
from bytenet.files import append_text, write_text_atomic
from bytenet.limits import MOST_CSV_BYTES, read_limited


class CsvLog:
    """Rows of named numbers, one line each, written as they are measured. The file never ends with half a line.

    Args:
        path: the file; made with a header line if it does not exist.
        columns: their names in order, including "step". Other columns of an existing file stay, after these.
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
        if self._has_columns and self.path.exists():
            append_text(self.path, f"{self._line(row)}\n")
        else:
            lines = self._lines()  # may add columns
            self._write([*lines, self._line(row)])

    def drop_after(self, step: int) -> None:
        """Remove the rows after `step`. A run that resumes at this step measures them again.

        Raises:
            InputError: the file is damaged.
        """
        column = self.columns.index("step")
        lines = self._lines()
        try:
            kept = [line for line in lines if int(line.split(",")[column]) <= step]
        except (ValueError, IndexError) as error:
            raise _damaged(self.path, error) from None
        if len(kept) < len(lines):
            self._write(kept)

    def _lines(self) -> list[str]:
        """The rows of the file without the header, in the columns of this log. Further columns are added to the log."""
        names, rows = _read(self.path)
        self.columns += [name for name in names if name not in self.columns]
        return [",".join(row.get(name, "") for name in self.columns) for row in rows]

    def _line(self, row: Mapping[str, float | None]) -> str:
        return ",".join(_shorten(row.get(name)) for name in self.columns)

    def _write(self, lines: list[str]) -> None:
        write_text_atomic(self.path, "".join(f"{line}\n" for line in [",".join(self.columns), *lines]))
        self._has_columns = True


def read_csv_log(path: Path) -> dict[str, list[float]]:
    """The columns of a `CsvLog`, with NaN for empty cells; no columns if there is no file, or no row in it.

    Raises:
        InputError: the file is damaged.
    """
    names, rows = _read(path)
    try:
        return {name: [float(row[name] or "nan") for row in rows] for name in names if rows}
    except ValueError as error:
        raise _damaged(path, error) from None


def as_written(value: float) -> float:
    """The number that is read back when a value was written, so that a resumed run computes with the same ones."""
    return float(_shorten(value))


def _read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The names of the columns, and the cells of each row by these names. A last line without its end is left out."""
    if not path.exists():
        return [], []
    try:
        header, *lines = read_limited(path, MOST_CSV_BYTES, "measurements").decode("utf-8").split("\n")[:-1]
        names = header.split(",")
        if "" in names or len(set(names)) < len(names):
            raise ValueError("its header has a column without a name, or the same one twice")
        return names, [dict(zip(names, line.split(","), strict=True)) for line in lines]
    except ValueError as error:  # also of bytes that are not UTF-8
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"{path} is damaged ({error}); expected lines of numbers. Delete the file, or bring it back.")


def _shorten(value: float | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
