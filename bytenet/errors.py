"""Errors that users can correct: the commands print them without a traceback."""

import difflib
from collections.abc import Iterable

MOST_MESSAGE_CHARS = 2000
"""Longest message. A longer one, such as an error with a whole file in it, would hide what it says."""

MOST_LINE_CHARS = 1_000_000
"""Largest number of characters of a line of text, which should be one sentence. A whole novel has about this many. The
other limits are in `bytenet.limits`, which needs pydantic; `bytenet.lite` does without it."""

MOST_SHOWN_CHARS = 200
"""Longest value that a message quotes."""


def shortened(text: str, most: int = MOST_MESSAGE_CHARS) -> str:
    """A text of at most `most` characters: its beginning and its end, if it is longer."""
    if len(text) <= most:
        return text
    gap = f" [... {len(text):,} characters ...] "
    kept = most - len(gap)
    return text[: kept - kept // 3] + gap + text[-(kept // 3) :]


def cut(text: str, most: int) -> str:
    """A text of at most `most` characters: its beginning and an ellipsis, if it is longer."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shown(value: object) -> str:
    """`repr(value)` for a message, at most `MOST_SHOWN_CHARS` long."""
    return shortened(repr(value), MOST_SHOWN_CHARS)


def nearest(word: str, words: Iterable[str], least: float = 0.6) -> str:
    """A space and the question "Did you mean ...?" with the nearest of `words`; an empty text if none is similar.

    Args:
        word: what was given.
        words: what it may stand for.
        least: similarity of a word that is similar, see `difflib.get_close_matches`.
    """
    close = difflib.get_close_matches(word, words, n=1, cutoff=least)
    return f" Did you mean {close[0]}?" if close else ""


def last_lines(output: str) -> str:
    """The last ten lines of what a program wrote, for the message that it failed."""
    return "\n".join(output.strip().split("\n")[-10:])


class InputError(ValueError):
    """A value, file or setting that cannot be used.

    The message says what was found, what was expected, where, and what to do. The command prints it without a
    traceback and exits with 1.

    Args:
        message: is shortened to `MOST_MESSAGE_CHARS`.
    """

    def __init__(self, message: str):
        super().__init__(shortened(message))


class ConfigError(InputError):
    """A configuration key that does not exist, or a value that it does not allow. The command exits with 2."""


class ModelError(InputError):
    """A model was read, but fails when it computes. A server is at fault then, and not the request."""


class MissingFileError(InputError, FileNotFoundError):
    """A file or folder that should exist and does not."""

    def __str__(self) -> str:
        return ValueError.__str__(self)
