"""Tables of Markdown that show any text as it is."""

import re
from collections.abc import Iterable, Sequence

_MARKS = frozenset("\\|`*_<>[]~&$")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already, such as those of `cell`."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *rows))


def cell(text: str, longest: int | None = None) -> str:
    """Text that Markdown shows as it is, within one cell of one line.

    Line ends and other blanks become spaces, and what does not print becomes U+FFFD.

    Args:
        text: any.
        longest: characters kept; an ellipsis stands for the rest.
    """
    if longest is not None and len(text) > longest:
        text = f"{text[: longest - 1]}…"
    shown = (character if character.isprintable() else " " if character.isspace() else "\ufffd" for character in text)
    return "".join(f"\\{character}" if character in _MARKS else character for character in shown)


def code(text: str) -> str:
    """Text as code, in one line; backticks in it become quotes."""
    return f"`{' '.join(text.split()).replace('`', chr(39))}`"


def anchor(heading: str) -> str:
    """What a link to a heading ends with, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
