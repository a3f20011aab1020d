"""A corpus of any size with known faults, made from a real one."""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path

from bytenet.datasets import Pairs
from bytenet.datasets.shards.sharding.filters import CAME_BEFORE
from bytenet.datasets.text.pair_faults import EMPTY_SIDE, EQUAL_SIDES, uneven_sides
from bytenet.errors import InputError

_WITH_FAULT = 100  # one pair in so many
_WRITTEN_AT_ONCE = 100_000
_SHORTEST, _LONGEST, _RATIO = 10, 400, 2


def write_made_corpus(folder: Path, pairs: Pairs, number: int) -> tuple[list[str], dict[str, int]]:
    """Write two text files of any number of pairs.

    Each pair is a real one with a number at the ends of both sides, so all differ. Every hundredth has a fault. In
    turns, it repeats a much earlier pair, has an empty side, two equal sides, or sides of very different lengths.

    Args:
        folder: for the files.
        pairs: the real pairs. Those that a filter could leave out are not used.
        number: of pairs to write.

    Returns:
        The paths of the files, and how many pairs a filter leaves out for each reason.

    Raises:
        InputError: no pair can be used.
    """
    templates = [
        (source, target)
        for source, target in zip(pairs.source, pairs.target, strict=True)
        if _is_plain(source, target) and _is_plain(target, source)
    ]
    if not templates:
        raise InputError("The corpus has no pairs of 10 to 400 letters from which a larger one can be made.")
    paths = [str(folder / name) for name in ("made.source", "made.target")]
    made = _made(templates)
    with open(paths[0], "w", encoding="utf-8") as sources, open(paths[1], "w", encoding="utf-8") as targets:
        for begin in range(0, number, _WRITTEN_AT_ONCE):
            block = list(islice(made, min(_WRITTEN_AT_ONCE, number - begin)))
            for side, file in enumerate((sources, targets)):
                file.write("".join(f"{pair[side]}\n" for pair in block))
    kinds = [CAME_BEFORE, EMPTY_SIDE, EQUAL_SIDES, uneven_sides()]
    faults = number // _WITH_FAULT
    numbers = {kind: (faults - place + 3) // 4 for place, kind in enumerate(kinds)}
    return paths, {kind: pairs_with_it for kind, pairs_with_it in numbers.items() if pairs_with_it}


def _is_plain(text: str, other: str) -> bool:
    return _SHORTEST <= len(text) <= min(_LONGEST, _RATIO * len(other)) and text.isprintable() and text != other


def _made(templates: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Endless pairs."""

    def pair(index: int) -> tuple[str, str]:
        source, target = templates[index % len(templates)]
        return f"{source} {index}", f"{target} {index}"

    for index in count():
        source, target = pair(index)
        if index % _WITH_FAULT == _WITH_FAULT - 1:
            kind = index // _WITH_FAULT % 4
            if kind == 0:
                source, target = pair(index // (2 * _WITH_FAULT) * _WITH_FAULT)
            elif kind == 1:
                target = ""
            elif kind == 2:
                target = source
            else:
                target = f"{index}"
                source = f"{source} " + "und so weiter " * 3
        yield source, target
