"""Results in the documentation follow from their data. The tests compare facts, so sentences may be rephrased."""

import re
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from bytenet.reproduction.engine.merging import read_earlier
from bytenet.reproduction.engine.redrawing import judge
from bytenet.reproduction.engine.results import ResultFiles, read_record, read_table
from bytenet.reproduction.engine.settings_differences import settings_that_differ
from bytenet.reproduction.pages.conclusions import NOT_JUDGED
from bytenet.reproduction.pages.differences import source_links
from bytenet.reproduction.pages.write_pages import write_pages
from bytenet.reproduction.registry import all_experiments

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("experiment", all_experiments(), ids=lambda experiment: experiment.name)
def test_published_verdicts_follow_from_the_data(experiment, text_facts):
    def facts_of(verdict):
        """All fields. Texts are reduced to their facts, except the quantity, because the conclusions name it."""
        fields = asdict(verdict)
        words = {name: fields[name] for name in ("printed", "measured", "note") if isinstance(fields[name], str)}
        return fields | {name: text_facts(text) for name, text in words.items()}

    files = ResultFiles(DOCS / "reproduction", experiment.name, "cpu")
    if not files.data.is_file():  # the page lists the experiment as missing
        assert re.search(rf"\b{experiment.name}\b", (DOCS / "reproduction.md").read_text(encoding="utf-8"))
        return
    verdicts, facts = read_record(files)
    judged = judge(experiment, read_table(files.data), files)
    again = f"Judge it again: bytenet reproduce {experiment.name} --plot-only --out docs/reproduction --page ..."
    assert list(map(facts_of, verdicts)) == list(map(facts_of, judged)), again
    settings = (facts["differs_from_the_thesis"], settings_that_differ(experiment, "cpu"))
    published, present = ([_setting_facts(text, text_facts) for text in texts] for texts in settings)
    assert published == present
    for verdict in verdicts:
        if verdict.source:
            assert source_links(verdict.source)
        is_difference = any(word in verdict.quantity for word in ("minus", "effect of"))
        if verdict.interval and "misclassification" in verdict.quantity and not is_difference:
            assert 0 <= verdict.interval[0] <= verdict.interval[1] <= 1


def _setting_facts(text, text_facts):
    """A setting with both values, or only the facts of a description in words."""
    return text if "." in text.partition(" ")[0] else text_facts(text)


def _files(experiment):
    return ResultFiles(DOCS / "reproduction", experiment.name, "cpu")


@pytest.mark.parametrize(
    "experiment",
    [experiment for experiment in all_experiments() if experiment.in_part and _files(experiment).data.is_file()],
    ids=lambda one: one.name,
)
def test_published_results_can_be_joined_with_new_trainings(experiment):
    files = _files(experiment)
    assert len(read_earlier(experiment, files).rows) == len(read_table(files.data))


def test_published_pages_are_up_to_date(tmp_path, page_facts):
    shutil.copytree(DOCS / "reproduction", tmp_path / "reproduction", ignore=shutil.ignore_patterns("*.md"))
    write_pages(tmp_path / "reproduction.md", tmp_path / "reproduction")
    written = {path.relative_to(tmp_path) for path in tmp_path.rglob("*.md")}
    assert written >= {path.relative_to(DOCS) for path in (DOCS / "reproduction").glob("*.md")}
    for name in written:
        page, now = ((folder / name).read_text(encoding="utf-8") for folder in (DOCS, tmp_path))
        assert page_facts(page) == page_facts(now), f"Write {name} again: bytenet reproduce --page ..."


def test_every_conclusion_is_judged_in_the_published_results():
    assert NOT_JUDGED not in (DOCS / "reproduction.md").read_text(encoding="utf-8")
