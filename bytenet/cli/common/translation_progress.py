"""The progress of commands that translate many lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from bytenet.cli.common.messages import say
from bytenet.lite.lines import lines_in_words

_SECONDS_BETWEEN_LINES = 30.0  # as of a training


@contextmanager
def translation_progress(length: int) -> Iterator[Callable[[int], None]]:
    """Show the progress on stderr: a bar on a terminal, elsewhere a line every half minute.

    Args:
        length: number of lines.

    Yields:
        A function that takes the number of lines translated so far.
    """
    if sys.stderr is None or not sys.stderr.isatty():  # click would take standard output instead of None
        say(f"Translating {lines_in_words(length)} ...")
        yield _LinesOfProgress(length)
        return
    with click.progressbar(length=length, label="Translating", file=sys.stderr) as bar:
        yield lambda done: bar.update(done - bar.pos)


class _LinesOfProgress:
    """Prints how many of `length` lines are translated, now and then."""

    def __init__(self, length: int):
        self._length = length
        self._began = self._shown_at = time.monotonic()

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if now - self._shown_at >= _SECONDS_BETWEEN_LINES:
            self._shown_at = now
            say(f"Translated {done:,} of {lines_in_words(self._length)} after {now - self._began:.0f} s.")
