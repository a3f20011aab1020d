"""Signals that ask a training to stop."""

import signal
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def on_stop_signals(
    handle: Callable[[int, Any], None], signals: Collection[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
) -> Iterator[None]:
    """Call a function at some signals while this is entered. Only the main thread may enter it.

    Args:
        handle: gets the number of the signal and the interrupted frame.
        signals: Ctrl-C and SIGTERM, unless others are given.
    """
    before = {number: signal.signal(number, handle) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
