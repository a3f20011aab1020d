"""The results in the documentation are what the code makes of their data."""

import shutil
from pathlib import Path

import pytest

from bytenet.experiments.page import write_page
from bytenet.experiments.registry import all_experiments
from bytenet.experiments.reproduction import settings_that_differ
from bytenet.experiments.results import ResultFiles, read_record, read_table

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("experiment", all_experiments(), ids=lambda experiment: experiment.name)
def test_verdicts_follow_from_the_data(experiment):
    files = ResultFiles(DOCS / "reproduction", experiment.name, "cpu")
    verdicts, facts = read_record(files)
    again = f"Judge it again: bytenet reproduce {experiment.name} --plot-only --out docs/reproduction --page ..."
    assert verdicts == experiment.verdicts(read_table(files.data), "cpu"), again
    assert facts["differs_from_the_thesis"] == settings_that_differ(experiment, "cpu")


def test_the_page_shows_them(tmp_path):
    shutil.copytree(DOCS / "reproduction", tmp_path / "reproduction")
    write_page(tmp_path / "reproduction.md", tmp_path / "reproduction")
    for name in ("reproduction.md", "thesis-and-code.md"):
        page = (DOCS / name).read_text(encoding="utf-8")
        assert page == (tmp_path / name).read_text(encoding="utf-8"), "Write it again: bytenet reproduce --page ..."
