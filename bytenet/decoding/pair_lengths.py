"""Lines whose padding follows from the lengths of their pairs."""

from collections.abc import Iterable, Iterator, Sequence


def lines_with_lengths(lines: Iterable[str], pair_lengths: Sequence[int]) -> Iterator[str]:
    """The lines one by one.

    Args:
        lines: of text.
        pair_lengths: one for each line.

    Raises:
        ValueError: there are more or fewer lines than lengths.
    """
    number, expected = 0, f"{len(pair_lengths):,} pair_lengths; expected one for each line."
    for number, line in enumerate(lines, start=1):
        if number > len(pair_lengths):
            raise ValueError(f"Found {number:,} lines or more, but {expected}")
        yield line
    if number < len(pair_lengths):
        raise ValueError(f"Found {number:,} lines, but {expected}")
