"""Validation and test pairs for corpora that are published without splits."""

import hashlib

from bytenet.datasets.parallel import Pairs
from bytenet.datasets.text.characters import comparable


def hold_out_tail(pairs: Pairs, count: int) -> tuple[Pairs, Pairs, Pairs]:
    """Split off the last `2 * count` pairs: `count` for validation, then `count` for testing.

    Training pairs that share a sentence with those, on either side, are left out. Sentences that differ only in blanks
    at their ends are the same, here and in `hold_out_components`.

    Returns:
        Training, validation and test pairs.
    """
    first = len(pairs) - 2 * count
    validation, test = pairs.take(range(first, first + count)), pairs.take(range(first + count, len(pairs)))
    sides = [comparable(side) for side in (pairs.source, pairs.target)]
    held_out = [set(side[first:]) for side in sides]
    kept = [i for i in range(first) if all(side[i] not in out for side, out in zip(sides, held_out, strict=True))]
    return pairs.take(kept), validation, test


def hold_out_components(pairs: Pairs, count: int, salt: str, max_pairs: int = 10) -> tuple[Pairs, Pairs, Pairs]:
    """Split a corpus in which many sentences have several translations. No sentence is in two splits.

    Pairs that share a sentence, on either side, belong to one component. Components of at most `max_pairs` pairs are
    sorted by the SHA-256 of `salt` and their first target. The first pairs of the first `count` components are for
    validation, and those of the next `count` for testing. All other components are training data.

    Returns:
        Training, validation and test pairs, each in the order of `pairs`.
    """
    components: dict[int, list[int]] = {}
    for index, component in enumerate(_components(pairs)):
        components.setdefault(component, []).append(index)

    def key(members: list[int]) -> str:
        return hashlib.sha256((salt + pairs.target[members[0]]).encode("utf-8")).hexdigest()

    candidates = sorted((members for members in components.values() if len(members) <= max_pairs), key=key)
    validation = sorted(members[0] for members in candidates[:count])
    test = sorted(members[0] for members in candidates[count : 2 * count])
    held_out = {index for members in candidates[: 2 * count] for index in members}
    train = [index for index in range(len(pairs)) if index not in held_out]
    return pairs.take(train), pairs.take(validation), pairs.take(test)


def _components(pairs: Pairs) -> list[int]:
    """For each pair the number of its component."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers: dict[tuple[str, str], int] = {}  # of the sentences, by side and text
    source, target = (
        [numbers.setdefault((side, sentence), len(numbers)) for sentence in comparable(sentences)]
        for side, sentences in (("source", pairs.source), ("target", pairs.target))
    )
    graph = coo_array(([True] * len(pairs), (source, target)), shape=(len(numbers), len(numbers)))
    return connected_components(graph, directed=False)[1][source].tolist()
