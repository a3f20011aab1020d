"""The progress bar of commands that translate many lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def translation_progress(length: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on stderr.

    Args:
        length: number of lines.

    Yields:
        A function that takes the number of lines translated so far.
    """
    with click.progressbar(length=length, label="Translating", file=sys.stderr) as bar:
        yield lambda done: bar.update(done - bar.pos)
