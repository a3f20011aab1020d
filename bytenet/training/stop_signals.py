"""Ctrl-C and SIGTERM, which ask a training to stop."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_stop_signals(handle: Callable[[int, Any], None]) -> Iterator[None]:
    """Call a function at Ctrl-C or SIGTERM while this is entered. Only the main thread may enter it.

    Args:
        handle: gets the number of the signal and the interrupted frame.
    """
    before = {number: signal.signal(number, handle) for number in _STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
