"""Which pairs of a block are left out, and why."""

from dataclasses import dataclass, field

import numpy as np

from bytenet.datasets.shards.sharding.inputs import LineBlock
from bytenet.datasets.shards.sharding.text_block import ODD, UNASSIGNED, VISIBLE, TextBlock
from bytenet.datasets.text.pair_faults import EMPTY_SIDE, EQUAL_SIDES, MAX_RATIO, too_uneven, uneven_sides
from bytenet.errors import InputError

CAME_BEFORE = "the pair came before"

_SHOWN_PAIRS = 3
_SHOWN_BYTES = 200


@dataclass(frozen=True)
class FilterSettings:
    """Which pairs are left out of the shards. None turns a filter off.

    Attributes:
        min_length, max_length: characters on each side, at least and at most.
        max_ratio: most characters of the longer side for one of the shorter side, see `too_uneven`.
        min_letters: least share of letters among the characters of each side.
        odd_characters: leave out pairs with odd characters, see `is_odd`.
        identical: leave out pairs whose sides are equal.
        duplicates: leave out pairs that came before.

    Raises:
        InputError: a value is not allowed.
    """

    min_length: int = 1
    max_length: int = 500
    max_ratio: float | None = MAX_RATIO
    min_letters: float | None = None
    odd_characters: bool = True
    identical: bool = True
    duplicates: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.min_length <= self.max_length < 2**16:
            raise InputError(
                f"min_length is {self.min_length} and max_length {self.max_length}; expected 1 <= min_length <= "
                f"max_length <= {2**16 - 1}."
            )
        if self.max_ratio is not None and self.max_ratio < 1:
            raise InputError(f"max_ratio is {self.max_ratio}; expected at least 1.")

    def faults(self, block: LineBlock, source: TextBlock, target: TextBlock) -> dict[str, np.ndarray]:
        """What is wrong with each pair of a block, apart from duplicates.

        Args:
            block: as it was read.
            source, target: its sides.

        Returns:
            For each reason, in the order in which reasons count, bool `(pairs,)`.
        """
        lengths = np.array([source.lengths, target.lengths])
        shorter, longer = lengths.min(axis=0), lengths.max(axis=0)
        some_kind = source.kinds | target.kinds
        faults = {
            "not two columns": block.incomplete,
            "not UTF-8": ~(source.readable & target.readable),
            EMPTY_SIDE: (source.kinds & target.kinds & VISIBLE) == 0,
            f"a side is not {self.min_length} to {self.max_length} characters long": (
                (shorter < self.min_length) | (longer > self.max_length)
            ),
            "unassigned characters": (some_kind & UNASSIGNED) != 0,  # their normal form is not known
        }
        if self.odd_characters:
            faults["odd characters"] = (some_kind & ODD) != 0
        if self.min_letters is not None:
            letters = np.array([source.count_letters(), target.count_letters()])
            too_few = letters < self.min_letters * lengths
            faults[f"fewer than {self.min_letters:.0%} letters on a side"] = too_few.any(axis=0)
        if self.identical:
            equal = (a == b for a, b in zip(source.lines, target.lines, strict=True))
            faults[EQUAL_SIDES] = np.fromiter(equal, bool, len(source.lines))
        if self.max_ratio is not None:
            faults[uneven_sides(self.max_ratio)] = too_uneven(shorter, longer, self.max_ratio)
        return faults


@dataclass
class LeftOut:
    """The pairs that were left out for one reason.

    Attributes:
        reason: why.
        pairs: number of pairs; each counts only for its first reason.
        examples: of the first pairs, place (input and line), source and target, cut if they are long.
    """

    reason: str
    pairs: int = 0
    examples: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, indices: np.ndarray, block: LineBlock) -> None:
        """Count the pairs at `indices` of a block."""
        self.pairs += len(indices)
        for index in indices[: _SHOWN_PAIRS - len(self.examples)]:
            source, target = (_shown(line) for line in (block.source[index], block.target[index]))
            self.examples.append((f"{block.place}:{block.first_line + int(index)}", source, target))


def _shown(line: bytes) -> str:
    return line[:_SHOWN_BYTES].decode(errors="replace")
