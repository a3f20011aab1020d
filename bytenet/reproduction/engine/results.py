"""The result files of an experiment: data, picture, and verdicts."""

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NotRequired

from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.errors import InputError, MissingFileError, shown
from bytenet.files import write_text_atomic
from bytenet.limits import MOST_CSV_BYTES, MOST_JSON_BYTES, parse_json, read_limited
from bytenet.reproduction.engine.experiment import Scale, Table
from bytenet.reproduction.engine.verdict import Verdict

# So "007" is text, and so is what has more digits than any number here. Python's int refuses 5,000 digits.
_INTEGER = re.compile("0|-?[1-9][0-9]{0,17}")
_FLOAT = re.compile(r"-?((0|[1-9][0-9]{0,17})(\.[0-9]+)?(e[-+][0-9]+)?|inf)|nan")


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


class SavedRow(dict[str, Any]):
    """A row of a file. `row[column]` raises an InputError if the file lacks the column, as that of an older version.

    Attributes:
        path: of the file.
    """

    def __init__(self, path: Path, cells: Mapping[str, Any]):
        super().__init__(cells)
        self.path = path

    def __missing__(self, column: str) -> Any:
        raise InputError(f"{self.path} has no column {shown(column)}. Measure it again, or bring the right file back.")


def read_table(path: Path) -> Table:
    """Read a table that `write_table` wrote. Cells that look like numbers become numbers.

    Returns:
        At least one `SavedRow`.

    Raises:
        MissingFileError: the file does not exist.
        InputError: it is damaged.
    """
    if not path.is_file():
        raise MissingFileError(f"{path} is missing: run the experiment at this scale first, without --plot-only.")
    content = read_limited(path, MOST_CSV_BYTES, "the data of a result")
    try:
        rows = [*csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""), strict=True)]
    except (csv.Error, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from None
    if not rows:
        raise _damaged(path, "it has no rows")
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise _damaged(path, f"line {number} has not as many cells as the first")
    return [SavedRow(path, {key: _value(text) for key, text in row.items()}) for row in rows]


def _damaged(path: Path, problem: str) -> InputError:
    return InputError(f"{path} is damaged: {problem}. Bring it back, or measure it again.")


def _value(text: str) -> float | int | str:
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


class _Machine(TypedDict):
    platform: str
    processor: str
    cores: int | None


class _Place(TypedDict):
    git_commit: str | None
    machine: _Machine


class _Origin(TypedDict):
    git_commit: str | None
    machine: _Machine
    joined_with: NotRequired[list[_Place]]
    training_commits: NotRequired[list[str]]
    trainings: dict[str, list[int]]


class _Settings(TypedDict):
    """What `settings_of` gives."""

    common: dict[str, Any]
    runs: dict[str, dict[str, Any]]


class _Record(TypedDict):
    """What a record holds, as far as it is read."""

    verdicts: list[Verdict]
    versions: dict[str, str | None]
    git_commit: str | None
    machine: _Machine
    seeds: int
    differs_from_the_thesis: NotRequired[list[str]]
    settings: NotRequired[_Settings]
    measured_with: NotRequired[dict[str, Any]]
    trainings: NotRequired[str]
    training_commits: NotRequired[list[str]]
    joined_with: NotRequired[list[_Place]]
    origins: NotRequired[list[_Origin]]


def write_record(files: ResultFiles, verdicts: list[Verdict], facts: dict[str, Any]) -> None:
    """Save the verdicts and the facts of how they were made."""
    record = {**facts, "verdicts": [asdict(verdict) for verdict in verdicts]}
    write_text_atomic(files.record, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def read_record(files: ResultFiles) -> tuple[list[Verdict], dict[str, Any]] | None:
    """The verdicts and facts of a result.

    Returns:
        Verdicts and facts; None if there is no record.

    Raises:
        InputError: the file is damaged, or lacks a fact that every record has.
    """
    if not files.record.is_file():
        return None
    expected = "what `bytenet reproduce` wrote. Bring it back, or measure it again"
    content = read_limited(files.record, MOST_JSON_BYTES, expected)
    verdicts = parse_json(content, _Record, str(files.record), expected)["verdicts"]
    facts = json.loads(content)  # all of them, in the order in which they were written
    del facts["verdicts"]
    return verdicts, facts
