"""The tables of docs/factors.md that come from experiments have the numbers of their CSV files."""

import csv
from pathlib import Path

import pytest

from tests.test_results_tables import rows_of_first_table

DOCS = Path(__file__).parents[1] / "docs"
FACTORS = (DOCS / "factors.md").read_text(encoding="utf-8")
SOURCES = {
    "## One change of a setting": "quality-factors-cpu",
    "### ConvS2S": "quality-factors-convs2s-cpu",
    "## The search": "search-factors-cpu",
}
# Names in the CSV files that the page has in other words.
NAMES = {
    "pairs-2k": "none",
    "ConvS2S": "none",
    "the three changes with a gain together": "these three together",
}


def rows_of_csv(name: str) -> list[dict[str, str]]:
    with open(DOCS / "reproduction" / f"{name}.csv", encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def rows_of_page(heading: str) -> list[dict[str, str]]:
    return rows_of_first_table(FACTORS[FACTORS.index(f"\n{heading}") :])


def cells(row: dict[str, str], is_first: bool) -> dict[str, str]:
    """A row of a CSV file as the page has it, without its name. The others gain over the first one."""

    def number(column: str, digits: str) -> str:
        return format(float(row[column]), digits)

    def interval(column: str, digits: str) -> str:
        return f"{number(column, digits)} ({number(f'{column}_low', '.2f')} to {number(f'{column}_high', '.2f')})"

    return {
        "BLEU": interval("bleu", ".2f"),
        "gain of BLEU": "" if is_first else interval("bleu_gain", "+.2f"),
        "gain of chrF": "" if is_first else interval("chrf_gain", "+.2f"),
        **(
            {"length ratio": number("length_ratio", ".3f"), "seconds": number("seconds", ".0f")}
            if "search" in row
            else {"validation loss": number("val_loss", ".3f"), "steps": number("steps", ",.0f")}
        ),
    }


@pytest.mark.parametrize(("heading", "source"), SOURCES.items())
def test_tables_have_the_rows_of_the_csv_files_in_their_order(heading, source):
    names = [row.get("change") or row["search"] for row in rows_of_csv(source)]
    shown = [row.get("change") or row["search"] for row in rows_of_page(heading)]
    assert len(shown) == len(names)
    for name, words in zip(names, shown, strict=True):
        assert words.startswith(NAMES.get(name, name))  # the page may say more


@pytest.mark.parametrize(
    ("heading", "place", "expected"),
    [
        pytest.param(heading, place, cells(row, place == 0), id=f"{source}-{place}")
        for heading, source in SOURCES.items()
        for place, row in enumerate(rows_of_csv(source))
    ],
)
def test_rows_have_the_numbers_of_the_csv_files(heading, place, expected):
    name, *numbers = rows_of_page(heading)[place].items()
    assert dict(numbers) == expected, name
