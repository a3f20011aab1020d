"""The page on the thesis text, its code and this code names only things that exist."""

import re
from pathlib import Path

import pytest

from bytenet.config import preset_names
from bytenet.reproduction.pages.differences import differences, differences_page, parse_differences

from ...setting_keys import setting_keys

ROOT = Path(__file__).parents[3]
ROWS = differences().rows
SECTIONS = tuple(
    f"{section}." for section in ("model", "data", "training", "semi_supervised", "evaluation", "decoding")
)


def places(where: str) -> set[str]:
    return set(re.split(", ", where))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.where}: {row.here[:30]}")
def test_settings_exist_and_thesis_statements_have_a_latex_source(row):
    for setting in row.settings:
        if setting.startswith("preset "):
            assert setting.removeprefix("preset ") in preset_names()
        else:
            assert setting in setting_keys()
    assert bool(row.thesis) == bool(row.sources)
    for source in row.sources:
        assert re.fullmatch(r"[a-z-]+\.tex:\d+", source)


def test_named_settings_files_and_links_exist():
    quoted = re.findall(r"`([^`]+)`", differences_page())
    assert {word for word in quoted if word.startswith(SECTIONS) and ": " not in word} <= set(setting_keys())
    paths = {word for word in quoted if word.endswith(".py") and not word.startswith("code/")}
    assert len(paths) > 15
    for path in paths:
        assert (ROOT / path).is_file(), path
    targets = set(re.findall(r"\]\(([^)]+)\)", differences_page()))
    links = {link for link in targets if "://" not in link} - {"reproduction.md"}
    assert links
    for link in links:
        assert (ROOT / "docs" / link.partition("#")[0]).is_file(), link


def test_the_overview_may_have_another_name():
    page = differences_page("other.md")
    assert "(reproduction.md" not in page
    assert page.count("[other.md](other.md") == differences_page().count("[reproduction.md](reproduction.md") > 1


def test_page_links_every_latex_source_to_its_line():
    lines = differences_page().split("\n")
    defined = dict(line[1:].split("]: ") for line in lines if re.match(r"\[[^\]]+\]: ", line))
    used = {place for line in lines if line.startswith("|") for place in re.findall(r"<br>\[([^\]]+)\]", line)}
    assert used
    assert set(defined) == {source for row in ROWS for source in row.sources}
    assert used <= set(defined)
    for place, address in defined.items():
        name, line = place.split(":")
        assert f"/{differences().files[name].commit}/" in address
        assert address.endswith(f"/{name}?plain=1#L{line}")


def test_every_table_has_five_columns():
    lines = [line for line in differences_page().partition("\n## ")[2].split("\n") if line.startswith("|")]
    assert len(lines) == len(ROWS) + 2 * len(differences().sections)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {6}


def test_introduction_lists_the_thesis_settings():
    from bytenet.config.families.bytenet import ByteNetConfig
    from bytenet.config.families.recurrent import RecurrentConfig

    introduction = differences_page().partition("\n## ")[0]
    assert set(re.findall(r"`model\.(\w+)`", introduction)) == {*ByteNetConfig.THESIS, *RecurrentConfig.THESIS}


@pytest.mark.parametrize(
    "place",
    [
        "2.2", "2.4.1", "2.4.2", "2.5.1", "2.6.3", "2.7.2", "3.1.1", "3.2", "3.3.1", "3.3.2", "3.3.3", "3.4", "3.4.1",
        "3.4.2", "3.5", "3.5.1", "3.5.2", "3.6.1", "4", "eq. 2.2.6", "eq. 2.2.7", "eq. 2.2.13", "eq. 2.2.15",
        "eq. 2.4.6", "eq. 2.5.3", "eq. 2.5.4", "eq. 2.6.2", "eq. 2.6.4", "eq. 3.5.2", "eq. B.2.6", "eq. B.3.7",
        "eq. B.3.8", "eq. B.4.7", "eq. B.4.8", "Algorithm 1", "Algorithm 3", "Algorithm 4", "tab. 3.3.2", "tab. 3.3.4",
        "fig. 3.5.1", "fig. 3.5.3", "fig. 3.5.6", "fig. 3.6.1", "fig. 3.6.2", "fig. D.1.2",
    ],
)  # fmt: skip
def test_every_place_of_a_known_difference_has_a_row(place):
    assert any(place in places(row.where) for row in ROWS)


def test_places_where_the_thesis_is_right_have_no_row():
    """These rows were removed: the LaTeX text showed that they were wrong."""
    for place in ("eq. B.4.9", "eq. B.4.10", "eq. 3.5.1", "tab. 3.1.3", "2.6.2"):
        assert not any(place in places(row.where) for row in ROWS)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("text: words", r"sections\.A\.0: unknown key 'text'; the keys are where, thesis"),
        ("thesis: words", "thesis and source belong together"),
        ("thesis: words\n      source: result-setup.tex", "not of the form"),
        ("thesis: words\n      source: other.tex:3", "not under files: other.tex"),
        ("settings: model.dim", r"sections\.A\.0\.settings: "),
        ("", "needs thesis or code"),
    ],
)
def test_mistake_in_a_row_gives_an_error_that_names_it(changed, message):
    code = "code: more\n      " if changed else ""
    text = f"files: {{}}\nsections:\n  A:\n    - where: '3.2'\n      here: words\n      {code}{changed}\n"
    with pytest.raises(ValueError, match=message):
        parse_differences(text)


def test_documentation_page_has_the_current_facts(page_facts):
    page = ROOT / "docs" / "thesis-and-code.md"
    again = "Write it again: bytenet reproduce --page ..."
    assert page_facts(page.read_text(encoding="utf-8")) == page_facts(differences_page()), again
