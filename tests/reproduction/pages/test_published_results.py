"""The results in the documentation are what the code makes of their data."""

import shutil
from pathlib import Path

import pytest

from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table
from bytenet.reproduction.engine.runner import judge, settings_that_differ
from bytenet.reproduction.pages.conclusions import NOT_JUDGED
from bytenet.reproduction.pages.differences import source_links
from bytenet.reproduction.pages.page import write_pages
from bytenet.reproduction.registry import all_experiments

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("experiment", all_experiments(), ids=lambda experiment: experiment.name)
def test_verdicts_follow_from_the_data(experiment):
    files = ResultFiles(DOCS / "reproduction", experiment.name, "cpu")
    if not files.data.is_file():  # the page says so
        assert f"| {experiment.name} | " in (DOCS / "reproduction.md").read_text(encoding="utf-8")
        return
    verdicts, facts = read_record(files)
    again = f"Judge it again: bytenet reproduce {experiment.name} --plot-only --out docs/reproduction --page ..."
    assert verdicts == judge(experiment, read_table(files.data), files), again
    assert facts["differs_from_the_thesis"] == settings_that_differ(experiment, "cpu")
    for verdict in verdicts:
        if verdict.source:
            assert source_links(verdict.source)
        if verdict.interval and "misclassification" in verdict.quantity and "minus" not in verdict.quantity:
            assert 0 <= verdict.interval[0] <= verdict.interval[1] <= 1


def test_the_pages_show_them(tmp_path):
    shutil.copytree(DOCS / "reproduction", tmp_path / "reproduction")
    for page in (tmp_path / "reproduction").glob("*.md"):
        page.unlink()
    write_pages(tmp_path / "reproduction.md", tmp_path / "reproduction")
    written = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.md")]
    assert set(written) >= {path.relative_to(DOCS) for path in (DOCS / "reproduction").glob("*.md")}
    for name in written:
        page = (DOCS / name).read_text(encoding="utf-8")
        assert page == (tmp_path / name).read_text(encoding="utf-8"), "Write it again: bytenet reproduce --page ..."


def test_every_conclusion_is_judged_on_the_published_results():
    assert NOT_JUDGED not in (DOCS / "reproduction.md").read_text(encoding="utf-8")
