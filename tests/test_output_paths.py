"""Paths of results are checked before the work, and nothing is left behind."""

from pathlib import Path

import pytest

from bytenet.errors import InputError
from bytenet.output_paths import check_output_file, check_output_folder


def test_a_folder_that_can_be_written_is_left_as_it_was(tmp_path):
    check_output_folder(tmp_path / "a" / "b", "--output-dir")
    check_output_folder(tmp_path, "--output-dir")
    check_output_file(tmp_path / "rows.csv", "--csv")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named_with_its_option(tmp_path):
    (tmp_path / "file").touch()
    for folder in (Path("/proc/nope/x"), Path("/proc")):
        message = f"^--output-dir: the folder {folder} cannot be written: .* give --output-dir another folder"
        with pytest.raises(InputError, match=message):
            check_output_folder(folder, "--output-dir")
    for folder in (tmp_path / "file", tmp_path / "file" / "x"):
        with pytest.raises(InputError, match=f"^--output-dir: {tmp_path}/file is a file; expected a folder"):
            check_output_folder(folder, "--output-dir")
    with pytest.raises(InputError, match=r"^--csv: the folder /proc cannot be written"):
        check_output_file("/proc/rows.csv", "--csv")
    with pytest.raises(InputError, match=r"rows\.csv cannot be written: there is no folder"):
        check_output_file(tmp_path / "none" / "rows.csv", "--csv")
