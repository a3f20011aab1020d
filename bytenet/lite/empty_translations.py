"""Lines with text whose translations are empty."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from bytenet.lite.lines import lines_in_words
from bytenet.lite.translation import Translation
from bytenet.lite.white_space import is_blank


class EmptyTranslations:
    """Counts the lines with text whose best translation has none.

    Attributes:
        num_lines: number of such lines so far.
    """

    def __init__(self) -> None:
        self._have_text: deque[bool] = deque()  # of the lines that were read and are not translated yet
        self.num_lines = 0

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines, each noted when it is read."""
        for line in lines:
            self._have_text.append(not is_blank(line))
            yield line

    def count(self, hypotheses: Sequence[Translation]) -> None:
        """Note the hypotheses of the next line, best first."""
        self.num_lines += self._have_text.popleft() and is_blank(hypotheses[0].text)

    @property
    def message(self) -> str:
        """A sentence that says how many there are; empty if there are none."""
        if not self.num_lines:
            return ""
        verb = "has" if self.num_lines == 1 else "have"
        return f"{lines_in_words(self.num_lines)} {verb} an empty translation."
