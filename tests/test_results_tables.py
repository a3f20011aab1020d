"""The tables of results in README.md, docs/results.md, docs/pretrained.md and the pages of the runs are the same."""

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
PRETRAINED = (ROOT / "docs" / "pretrained.md").read_text(encoding="utf-8")


def rows_of_first_table(text: str) -> list[dict[str, str]]:
    """The rows of the first Markdown table, by the names in its header."""
    lines = text[text.index("\n|") + 1 :].split("\n\n")[0].split("\n")
    header, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [dict(zip(header, row, strict=True)) for row in rows]


def in_tenths(score: str) -> str:
    """A score like "24.98 (23.77 to 26.21)" with one digit after the point, as short tables have it."""
    tenth = Decimal("0.1")
    return re.sub(r"\d+\.\d\d", lambda number: str(Decimal(number[0]).quantize(tenth, ROUND_HALF_UP)), score)


RESULT_ROWS = rows_of_first_table(RESULTS)
README_ROWS = rows_of_first_table(README[README.index("## Results") :])
PAGE = re.compile(r"\[page\]\(results/(.+)\.md\)")
RUNS = {match[1]: row for row in RESULT_ROWS if (match := PAGE.fullmatch(row["run"]))}


def page_of(run: str) -> str:
    return (ROOT / "docs" / "results" / f"{run}.md").read_text(encoding="utf-8")


def without_links(text: str) -> str:
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)


def in_short(full: dict[str, str]) -> tuple[str, ...]:
    """A row of docs/results.md as README.md has it, but for the words of its first column."""
    time = without_links(full["training time"]).replace(" minutes", " min")
    chrf = in_tenths(full["chrF"]).split(" ")[0]
    return full["training pairs"], full["test set"], time, in_tenths(full["BLEU"]), chrf


def test_readme_has_some_of_the_results_in_short_and_in_their_order():
    short_rows = [tuple(row.values())[1:] for row in README_ROWS]
    full_rows = [in_short(row) for row in RESULT_ROWS]
    assert len(short_rows) >= 5
    assert short_rows == [row for row in full_rows if row in short_rows]


def test_readme_is_short():
    assert README.count("\n") <= 100


@pytest.mark.parametrize("run", RUNS)
def test_results_are_those_of_the_page_of_the_run(run):
    row, page = RUNS[run], page_of(run)
    scores = rows_of_first_table(page[page.index("## Scores on test") :])
    values = {score["score"]: (score["value"], score["95 % interval"]) for score in scores}
    assert row["BLEU"] == "{} ({})".format(*values["BLEU"])
    assert row["chrF"] == "{} ({})".format(*values["chrF2"])
    assert float(row["exact match"]) == pytest.approx(float(values["exact-match"][0]), abs=5.1e-4)
    minutes = re.findall(r"\d+ minutes", row["training time"])[-1]  # on the CPU
    assert f"| time | {minutes} for " in page


def test_each_page_of_a_run_has_a_row():
    assert set(RUNS) == {page.stem for page in (ROOT / "docs" / "results").glob("*.md")}


@pytest.mark.parametrize("row", rows_of_first_table(PRETRAINED), ids=lambda row: row["name"])
def test_page_on_shipped_models_has_the_results(row):
    result = RUNS[f"tatoeba-{row['name'].strip('`')}"]
    assert row["BLEU on 2,000 held-out sentences"] == in_tenths(result["BLEU"])
    assert row["corpus"].endswith(f"{result['training pairs']} pairs")
    assert row["training"] == without_links(result["training time"])
