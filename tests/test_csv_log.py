"""The CSV file of measurements."""

import math
import resource

import pytest

from bytenet.csv_log import CsvLog, as_written, read_csv_log
from bytenet.errors import InputError


def test_rows_are_read_back_with_gaps_as_nan(tmp_path):
    log = CsvLog(tmp_path / "log.csv", ["step", "loss", "bleu"])
    log.append({"step": 1, "loss": 2.5, "unknown": 3})
    log.append({"step": 2, "loss": None, "bleu": 12.345678901})
    columns = read_csv_log(log.path)
    assert columns["step"] == [1, 2]
    assert columns["loss"][0] == 2.5
    assert math.isnan(columns["loss"][1])
    assert columns["bleu"][1] == 12.3457


@pytest.mark.parametrize("value", [1 / 3, 12345678.9, 1e-12, -2.5, float("inf"), 3])
def test_a_value_as_written_is_the_one_that_is_read_back(tmp_path, value):
    log = CsvLog(tmp_path / "log.csv", ["step", "loss"])
    log.append({"step": 1, "loss": value})
    assert read_csv_log(log.path)["loss"] == [as_written(value)]


def test_drop_after_removes_the_rows_after_a_step(tmp_path):
    log = CsvLog(tmp_path / "log.csv", ["epoch", "step"])
    for step in (3, 6, 9):
        log.append({"epoch": step // 3, "step": step})
    log.drop_after(6)
    assert log.path.read_bytes() == b"epoch,step\n1,3\n2,6\n"
    log.append({"epoch": 3, "step": 9})
    assert read_csv_log(log.path)["step"] == [3, 6, 9]


def test_an_absent_file_has_no_columns(tmp_path):
    assert read_csv_log(tmp_path / "log.csv") == {}
    CsvLog(tmp_path / "log.csv", ["step"]).drop_after(3)
    assert not (tmp_path / "log.csv").exists()


def test_values_keep_their_column_when_a_resumed_run_has_other_columns(tmp_path):
    CsvLog(tmp_path / "log.csv", ["step", "bleu", "seconds"]).append({"step": 1, "bleu": 2.0, "seconds": 3})
    CsvLog(tmp_path / "log.csv", ["step", "loss", "seconds"]).append({"step": 4, "loss": 0.5, "seconds": 6})
    assert (tmp_path / "log.csv").read_text() == "step,loss,seconds,bleu\n1,,3,2\n4,0.5,6,\n"
    log = CsvLog(tmp_path / "log.csv", ["step", "seconds"])
    log.drop_after(1)
    log.append({"step": 5, "seconds": 7})
    assert log.path.read_text() == "step,seconds,loss,bleu\n1,3,,2\n5,7,,\n"


@pytest.mark.parametrize("header", ["", "step,", "step,loss,loss"])
def test_a_damaged_header_is_refused(tmp_path, header):
    (tmp_path / "log.csv").write_text(f"{header}\n")
    with pytest.raises(InputError, match="is damaged"):
        CsvLog(tmp_path / "log.csv", ["step", "loss"]).append({"step": 1})


@pytest.mark.parametrize("content", ["", "step,loss,loss\n1,2,3\n", "step,loss\n1\n", "step,loss\n1,x\n"])
def test_a_damaged_file_is_not_read(tmp_path, content):
    (tmp_path / "log.csv").write_text(content)
    with pytest.raises(InputError, match="is damaged"):
        read_csv_log(tmp_path / "log.csv")


def test_a_line_without_its_end_is_not_read(tmp_path):
    """A power failure can leave half a number."""
    (tmp_path / "log.csv").write_text("step,loss\n1,2.5\n2,1.")
    assert read_csv_log(tmp_path / "log.csv") == {"step": [1], "loss": [2.5]}


def test_removed_file_starts_again_with_its_header(tmp_path):
    log = CsvLog(tmp_path / "log.csv", ["step"])
    log.append({"step": 1})
    log.path.unlink()
    log.append({"step": 2})
    assert log.path.read_text() == "step\n2\n"


def test_full_disk_leaves_only_whole_lines(tmp_path):
    log = CsvLog(tmp_path / "log.csv", ["step", "loss"])
    log.append({"step": 1, "loss": 2.0})
    log.append({"step": 2, "loss": 1.0})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Room for half a line. The rest is cut off, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.path.stat().st_size + 2, before[1]))
    try:
        with pytest.raises(InputError, match="disk is full"):
            log.append({"step": 3, "loss": 0.5})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert log.path.read_text() == "step,loss\n1,2\n2,1\n"
    log.append({"step": 3, "loss": 0.5})
    assert read_csv_log(log.path)["step"] == [1, 2, 3]
