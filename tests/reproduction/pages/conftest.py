"""The facts of a page, without its wording."""

import re
from collections import Counter
from typing import get_args

import pytest

from bytenet.reproduction.engine.verdict import Evidence

_PATTERNS = {
    "number": r"(?<![\w.,-])-?(?:\d+(?:[.,]\d+)*|\.\d+)(?:e[-+]?\d+)?(?![\w-])",
    "name": r"\b(?:fig|tab)-[\w.]*\w",  # name of an experiment
    "commit": r"\b[0-9a-f]{40}\b",
    "bold": r"\*\*(.+?)\*\*",  # outcomes and judgements
    "link": r"\]\(([^)]*)\)|^\[[^\]]+\]: (\S+)",
    "code": r"`([^`]+)`",  # settings, commands and file names
    "evidence": "|".join(get_args(Evidence)),
}


@pytest.fixture(scope="session")
def text_facts():
    """A function that returns the facts of a text: its numbers, links, outcomes, settings and kinds of evidence.

    Their order is ignored, so sentences may be rephrased.
    """

    def of_text(text):
        return Counter(
            (kind, "".join(match.groups("")) if match.re.groups else match.group())
            for kind, pattern in _PATTERNS.items()
            for match in re.finditer(pattern, text, flags=re.MULTILINE)
        )

    return of_text


@pytest.fixture(scope="session")
def page_facts(text_facts):
    """A function that returns the facts of a page, for each table cell and for the other text of each section."""

    def of_page(page):
        facts = []
        for section in re.split(r"(?m)^(?=#)", page):
            lines = section.split("\n")
            rows = [line for line in lines if line.startswith("|")]
            facts.append(text_facts("\n".join(line for line in lines if not line.startswith("|"))))
            facts += [[text_facts(cell) for cell in re.split(r"(?<!\\)\|", row)] for row in rows]
        return facts

    return of_page
