"""What the page on the thesis's text, its code and this code names does exist."""

import re
from pathlib import Path

import pytest

from bytenet.config import _KEYS, preset_names
from bytenet.experiments.differences import DIFFERENCES, differences_page

ROOT = Path(__file__).parents[2]
ROWS = [row for rows in DIFFERENCES.values() for row in rows]
SECTIONS = tuple(
    f"{section}." for section in ("model", "data", "training", "semi_supervised", "evaluation", "decoding")
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.where}: {row.here[:30]}")
def test_settings_exist_and_every_row_says_what_happens_here(row):
    for setting in row.settings:
        if setting.startswith("preset "):
            assert setting.removeprefix("preset ") in preset_names()
        else:
            assert setting in _KEYS
    assert row.where
    assert row.here
    assert row.text or row.code


def test_named_settings_files_and_links_exist():
    quoted = re.findall(r"`([^`]+)`", differences_page())
    assert {word for word in quoted if word.startswith(SECTIONS) and ": " not in word} <= set(_KEYS)
    paths = {word for word in quoted if word.endswith(".py")}
    assert len(paths) > 15
    for path in paths:
        assert (ROOT / path).is_file(), path
    links = set(re.findall(r"\]\(([^)]+)\)", differences_page())) - {"reproduction.md"}
    assert links
    for link in links:
        assert (ROOT / "docs" / link).is_file(), link


def test_every_table_has_five_columns():
    lines = [line for line in differences_page().split("\n") if line.startswith("|")]
    assert len(lines) == len(ROWS) + 2 * len(DIFFERENCES)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {6}


def test_the_introduction_lists_the_settings_of_the_thesis():
    from bytenet.models.bytenet import THESIS_SETTINGS

    introduction = differences_page().partition("\n## ")[0]
    assert set(re.findall(r"`model\.(\w+)`", introduction)) == set(THESIS_SETTINGS)


@pytest.mark.parametrize(
    "place",
    [
        "2.2.6", "2.2.7", "2.2.13", "2.2.15", "2.4.2", "2.4.6", "2.5.1", "2.5.3", "2.5.4", "2.6.2", "2.6.3", "2.6.4",
        "B.2.6", "B.3.7", "B.3.8", "B.4.7", "B.4.8", "B.4.9", "B.4.10", "Algorithm 1", "Algorithm 3", "Algorithm 4",
        "tab. 3.1.3", "tab. 3.3.4", "3.3.1", "3.4.1", "3.4.2", "3.5.1", "3.5.2", "3.6.1", "fig. 3.5.3", "fig. 3.5.6",
        "fig. 3.6.1", "fig. 3.6.2", "fig. D.1.2",
    ],
)  # fmt: skip
def test_no_place_of_a_known_slip_is_left_out(place):
    assert any(place in re.split(", ", row.where) for row in ROWS)


def test_the_page_in_the_documentation_is_this_one():
    page = ROOT / "docs" / "thesis-and-code.md"
    assert page.read_text(encoding="utf-8") == differences_page(), "Write it again: bytenet reproduce --page ..."
