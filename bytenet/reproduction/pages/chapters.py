"""The chapters of the thesis. Each has a page with its figures and tables."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Chapter:
    """A page of figures and tables.

    Attributes:
        title: heading of the page.
        file_name: name of its file.
        pattern: regular expression for the names of its experiments.
    """

    title: str
    file_name: str
    pattern: str


BEYOND = Chapter("Beyond the thesis", "beyond-the-thesis.md", r".*")
CHAPTERS = (
    Chapter("Chapter 2: theory", "chapter-2.md", r"(fig|tab)-2\..*"),
    Chapter("Section 3.1: data", "section-3.1.md", r"(fig|tab)-3\.1\..*"),
    Chapter("Section 3.3: ByteNet", "section-3.3.md", r"(fig|tab)-3\.3\..*|digits-by-place"),
    Chapter("Section 3.4: Simplified ByteNet", "section-3.4.md", r"(fig|tab)-3\.4\..*"),
    Chapter("Section 3.5: SELU ByteNet", "section-3.5.md", r"(fig|tab)-3\.5\..*"),
    Chapter("Section 3.6: semi-supervised ByteNet", "section-3.6.md", r"(fig|tab)-3\.6\..*|attention-baseline"),
    Chapter("Appendix D: further results", "appendix-d.md", r"(fig|tab)-d\..*"),
    BEYOND,
)


def chapter_of(name: str) -> Chapter:
    """The chapter of an experiment: the first one whose pattern matches its name."""
    return next(chapter for chapter in CHAPTERS if re.fullmatch(chapter.pattern, name))
