"""The result files of an experiment: data, picture, and verdicts."""

import csv
import io
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bytenet.errors import InputError, MissingFileError
from bytenet.files import write_text_atomic
from bytenet.reproduction.engine.experiment import Scale, Table
from bytenet.reproduction.engine.verdict import Verdict

_INTEGER = re.compile("0|-?[1-9][0-9]*")  # so "007" is text
_FLOAT = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]+)?(e[-+][0-9]+)?|inf)|nan")


@dataclass(frozen=True)
class ResultFiles:
    """Paths of the results of an experiment at a scale.

    Attributes:
        folder: folder of all results.
        name: name of the experiment.
        scale: its scale.
    """

    folder: Path
    name: str
    scale: Scale

    @property
    def data(self) -> Path:
        """The CSV file."""
        return self._path("csv")

    @property
    def picture(self) -> Path:
        """The PNG file."""
        return self._path("png")

    @property
    def record(self) -> Path:
        """The JSON file of the verdicts and of the facts of how they were made."""
        return self._path("json")

    def _path(self, suffix: str) -> Path:
        return self.folder / f"{self.name}-{self.scale}.{suffix}"


def write_table(path: Path, table: Table) -> None:
    """Save rows as CSV, with floats rounded to six digits and texts in quotes.

    Raises:
        InputError: there are no rows, or they have different columns.
    """
    if not table:
        raise InputError(f"There is nothing to write to {path}: the experiment measured nothing.")
    if any(row.keys() != table[0].keys() for row in table):
        raise InputError(f"Not all rows for {path} have the columns {', '.join(table[0])}.")
    text = io.StringIO()
    # All texts in quotes. By itself, csv does not quote a carriage return.
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    for row in table:
        writer.writerow({key: _rounded(value) for key, value in row.items()})
    write_text_atomic(path, text.getvalue())


def _rounded(value: float | int | str) -> float | int | str:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def read_table(path: Path) -> Table:
    """Read a table that `write_table` wrote. Cells that look like numbers become numbers.

    Raises:
        MissingFileError: the file does not exist.
        InputError: it is damaged.
    """
    if not path.is_file():
        raise MissingFileError(f"{path} is missing: run the experiment at this scale first, without --plot-only.")
    with open(path, encoding="utf-8", newline="") as file:
        try:
            rows = [*csv.DictReader(file, strict=True)]
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(f"{path} is damaged: {error}. Bring it back.") from None
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise InputError(f"{path} is damaged: line {number} has not as many cells as the first. Bring it back.")
    return [{key: _value(text) for key, text in row.items()} for row in rows]


def _value(text: str) -> float | int | str:
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


_INTERVALS = ("interval", "over_sentences")  # pairs, which JSON reads as lists


def write_record(files: ResultFiles, verdicts: list[Verdict], facts: dict[str, Any]) -> None:
    """Save the verdicts and the facts of how they were made."""
    record = {**facts, "verdicts": [asdict(verdict) for verdict in verdicts]}
    write_text_atomic(files.record, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def read_record(files: ResultFiles) -> tuple[list[Verdict], dict[str, Any]] | None:
    """The verdicts and facts of a result.

    Returns:
        Verdicts and facts; None if there is no record.

    Raises:
        InputError: the file is damaged.
    """
    if not files.record.is_file():
        return None
    try:
        record = json.loads(files.record.read_text(encoding="utf-8"))
        verdicts = [
            Verdict(**verdict | {key: tuple(verdict[key]) for key in _INTERVALS if verdict.get(key)})
            for verdict in record.pop("verdicts")
        ]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{files.record} is not as `bytenet reproduce` wrote it.") from error
    return verdicts, record
