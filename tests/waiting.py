"""Waiting for something that another process or thread does."""

import time

import requests

_PATIENCE_SECONDS = 90


def wait_for(answer, what: str, seconds: float = _PATIENCE_SECONDS):
    """Call `answer` until its result is true, and return it.

    Args:
        answer: may raise an error of a server that is not ready yet.
        what: is awaited, for the message.
        seconds: after which this fails.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if value := answer():
                return value
        except (requests.ConnectionError, requests.Timeout):
            pass  # not ready yet
        time.sleep(0.05)
    raise TimeoutError(f"{what} did not come in {seconds} seconds.")
