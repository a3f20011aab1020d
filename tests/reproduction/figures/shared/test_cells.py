"""Cells of result tables, read as one type."""

import pytest

from bytenet.errors import InputError
from bytenet.reproduction.engine.results import read_table, write_table
from bytenet.reproduction.figures.shared.cells import columns_of, integer_in, number_in, rows_where, text_in, texts_in

ROW = {"loss": 0.5, "trial": 3, "epoch": 2.0, "run": "selu", "empty": "", "none": float("nan")}


def test_cells_keep_their_values():
    assert number_in(ROW, "loss") == 0.5
    assert [integer_in(ROW, column) for column in ("trial", "epoch")] == [3, 2]
    assert text_in(ROW, "run") == "selu"
    assert texts_in([{"run": "b"}, {"run": "a"}, {"run": "b"}], "run") == ["b", "a"]


@pytest.mark.parametrize(
    ("read", "column"),
    [
        (number_in, "run"), (number_in, "empty"), (integer_in, "loss"), (integer_in, "run"), (integer_in, "none"),
        (text_in, "trial"),
    ],
)  # fmt: skip
def test_cell_of_wrong_type_gives_error_that_names_its_column(read, column):
    with pytest.raises(InputError, match=f"'{column}'"):
        read(ROW, column)


ROWS = [{"run": "selu", "x": 1, "y": 0.5}, {"run": "relu", "x": 1, "y": 2.5}, {"run": "selu", "x": 2, "y": 1.5}]


def test_chosen_rows_have_all_given_values():
    assert rows_where(ROWS, run="selu") == [ROWS[0], ROWS[2]]
    assert rows_where(ROWS, run="selu", x=2) == [ROWS[2]]
    assert rows_where(ROWS, run="relu", x=2) == []
    assert rows_where(ROWS) == ROWS


def test_columns_have_the_chosen_rows_only():
    assert columns_of(ROWS, run="selu")["y"].tolist() == [0.5, 1.5]
    assert columns_of(ROWS, run="relu", x=1)["y"].tolist() == [2.5]
    assert columns_of(ROWS)["x"].tolist() == [1, 1, 2]
    with pytest.raises(InputError, match=r"no row with 'selu' in its column 'run' and 3 in its column 'x'\. Measure"):
        columns_of(ROWS, run="selu", x=3)


@pytest.fixture
def saved(tmp_path):
    """Rows that were read from a file."""
    write_table(tmp_path / "table.csv", [ROW])
    return read_table(tmp_path / "table.csv")


@pytest.mark.parametrize("read", [number_in, integer_in, text_in])
def test_column_that_a_file_lacks_is_named(read, saved):
    with pytest.raises(InputError, match=r"table\.csv has no column 'gone'\. Measure it again"):
        read(saved[0], "gone")


def test_rows_and_columns_that_a_file_lacks_are_named(saved):
    with pytest.raises(InputError, match=r"table\.csv has no column 'gone'"):
        rows_where(saved, gone=1)
    with pytest.raises(InputError, match=r"table\.csv has no row with 'relu' in its column 'run'"):
        columns_of(saved, run="relu")


def test_wrong_cell_of_a_file_is_named(saved):
    with pytest.raises(InputError, match=r"table\.csv has 'selu' in its column 'run', where a number belongs"):
        number_in(saved[0], "run")
