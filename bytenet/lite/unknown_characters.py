"""The characters of lines that a model does not know."""

import unicodedata
from collections.abc import Iterable, Iterator

from bytenet.lite.lines import lines_in_words
from bytenet.lite.white_space import is_blank, readable

_MOST_SHOWN = 3


class UnknownCharacters:
    """Notes the characters of lines that a model does not know.

    Args:
        known: the characters that it knows.

    Attributes:
        num_lines: number of lines so far that have others.
    """

    def __init__(self, known: frozenset[str]):
        self._known = known
        self._unknown: dict[str, None] = {}  # a set in the order of the text
        self.num_lines = 0

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines, each noted when it is read.

        Blank lines, blanks at the ends of others, and what a model reads as a blank (see `readable`) do not count.
        """
        for line in lines:
            characters = unicodedata.normalize("NFC", readable(line.strip(), self._known))
            if not self._known.issuperset(characters) and not is_blank(characters):
                self._unknown.update(dict.fromkeys(filter(self._is_unknown, characters)))
                self.num_lines += 1
            yield line

    @property
    def message(self) -> str:
        """A sentence that names the first characters; empty if there are none."""
        if not self.num_lines:
            return ""
        return f"Characters that the model does not know, in {lines_in_words(self.num_lines)}: {self}."

    def __str__(self) -> str:
        """The first characters for a message, and the number of others."""
        parts = [f"{character!r} (U+{ord(character):04X})" for character in [*self._unknown][:_MOST_SHOWN]]
        if others := len(self._unknown) - len(parts):
            parts.append("1 other" if others == 1 else f"{others:,} others")
        return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))

    def _is_unknown(self, character: str) -> bool:
        return character not in self._known
