"""What shows that the sides of a pair may not be translations of each other."""

from typing import Any

EMPTY_SIDE = "a side is empty"
EQUAL_SIDES = "both sides are equal"

MAX_RATIO = 3.0
"""Most characters of the longer side of a pair for one of the shorter side, by default."""

RATIO_MIN_CHARS = 20
"""The ratio is looked at only if the longer side has at least so many characters."""


def uneven_sides(max_ratio: float = MAX_RATIO) -> str:
    """The fault of a pair whose sides differ too much in length."""
    return f"one side more than {max_ratio:g} times as long as the other"


def too_uneven(shorter: Any, longer: Any, max_ratio: float = MAX_RATIO) -> Any:
    """Whether the sides of pairs differ too much in length.

    Args:
        shorter, longer: characters of the shorter and of the longer side: numbers, or int `(pairs,)`.
        max_ratio: most characters of the longer side for one of the shorter side.

    Returns:
        As many truth values.
    """
    return (longer >= RATIO_MIN_CHARS) & (longer > max_ratio * shorter)
