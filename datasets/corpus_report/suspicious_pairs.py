"""Pairs that may not be translations of each other."""

from dataclasses import dataclass
from typing import Any

from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.pair_faults import EMPTY_SIDE, EQUAL_SIDES, too_uneven, uneven_sides
from bytenet.lite.white_space import is_blank

_SHOWN_PAIRS = 5


@dataclass(frozen=True)
class SuspiciousPairs:
    """Pairs of a split that may not be translations of each other.

    Attributes:
        reason: what is suspicious.
        count: number of pairs.
        examples: the first pairs: line number among all pairs of the split (from 1), source, target.
    """

    reason: str
    count: int
    examples: tuple[tuple[int, str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, numbers and strings."""
        examples = [{"line": line, "source": source, "target": target} for line, source, target in self.examples]
        return {"reason": self.reason, "count": self.count, "examples": examples}


def find_suspicious(pairs: Pairs) -> tuple[SuspiciousPairs, ...]:
    """Find the pairs with an empty side, with equal sides, and with sides of very different lengths.

    Lengths are very different if `bytenet data shard` would leave the pair out. A pair counts only for the first of
    these reasons that applies. A side without a visible character is empty.

    Returns:
        One entry for each reason, also if its count is 0.
    """
    by_reason: dict[str, list[int]] = {EMPTY_SIDE: [], EQUAL_SIDES: [], uneven_sides(): []}
    for index, (source, target) in enumerate(zip(pairs.source, pairs.target, strict=True)):
        shorter, longer = sorted((len(source), len(target)))
        if is_blank(source) or is_blank(target):
            by_reason[EMPTY_SIDE].append(index)
        elif source == target:
            by_reason[EQUAL_SIDES].append(index)
        elif too_uneven(shorter, longer):
            by_reason[uneven_sides()].append(index)
    return tuple(
        SuspiciousPairs(
            reason,
            len(indices),
            tuple((index + 1, pairs.source[index], pairs.target[index]) for index in indices[:_SHOWN_PAIRS]),
        )
        for reason, indices in by_reason.items()
    )
