"""Markdown that shows any text literally."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from bytenet.errors import cut

_MARKS = frozenset("\\|`*_<>[]~&$")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. Its cells are Markdown, as `cell` returns it."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *rows))


def cell(text: str, longest: int | None = None) -> str:
    """Text for one cell of one line that Markdown shows literally.

    Line ends and other blanks become spaces. Other characters that are not printable become U+FFFD.

    Args:
        text: any text.
        longest: most characters; an ellipsis replaces the rest.
    """
    if longest is not None:
        text = cut(text, longest)
    shown = (character if character.isprintable() else " " if character.isspace() else "\ufffd" for character in text)
    return "".join(f"\\{character}" if character in _MARKS else character for character in shown)


def code(text: str) -> str:
    """Text as code in one line. Its backticks become quotes."""
    return f"`{' '.join(text.split()).replace('`', chr(39))}`"


def link_target(path: str) -> str:
    """A path as the target of a link."""
    return quote(path)


def anchor(heading: str) -> str:
    """The anchor that GitHub gives to a heading, for links to it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
