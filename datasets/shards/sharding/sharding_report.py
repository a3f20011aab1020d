"""What became of the pairs of a corpus that was distributed over shards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bytenet.datasets.shards.sharding.filters import LeftOut
from bytenet.datasets.shards.sharding.inputs import place_of
from bytenet.errors import cut

# Larger shards take much memory in a training. Smaller ones have many incomplete batches.
_FEWEST_PAIRS, _MOST_PAIRS = 50_000, 1_000_000
_GOOD_PAIRS = 300_000
_SHOWN_CHARS = 60


@dataclass(frozen=True)
class ShardingReport:
    """What became of a corpus.

    Attributes:
        read: pairs of all inputs.
        kept: pairs in the shards.
        pairs_by_shard: of each shard.
        left_out: for each reason, also if nothing was left out for it.
        not_remembered: pairs that came when the table of duplicates was full. Later duplicates of them were kept.
    """

    read: int
    kept: int
    pairs_by_shard: list[int]
    left_out: list[LeftOut]
    not_remembered: int

    def lines(self) -> Iterator[str]:
        """The report for a reader."""
        smallest, largest = min(self.pairs_by_shard), max(self.pairs_by_shard)
        yield f"read      {self.read:,} pairs"
        yield f"kept      {self.kept:,} pairs, in {len(self.pairs_by_shard)} shards of {smallest:,} to {largest:,}"
        yield f"left out  {self.read - self.kept:,} pairs, each counted for the first reason that holds"
        for entry in self.left_out:
            yield f"{entry.pairs:>12,}  {entry.reason}"
            for example in entry.examples:
                yield f"{'':>14}{_example(*example)}"
        if self.not_remembered:
            yield (
                f"warning: the table of duplicates was full, and {self.not_remembered:,} pairs were not remembered. "
                "Duplicates of them were kept. Give it more memory with --duplicates-mb."
            )

    def why_nothing_is_kept(self, inputs: Sequence[str]) -> str:
        """The message about `inputs` of which no pair can be kept."""
        names = ", ".join(map(place_of, inputs))
        if not self.read:
            return f"{names}: found no lines; expected pairs of sentences. Is it the right input?"
        reasons = ", ".join(f"{entry.reason}: {entry.pairs:,}" for entry in self.left_out if entry.pairs)
        most = max(self.left_out, key=lambda entry: entry.pairs)
        return (
            f"{names}: none of the {self.read:,} pairs can be kept ({reasons}). The first one for {most.reason!r} is "
            f"{_example(*most.examples[0])}. Correct the text, or look at `bytenet data shard --help`: some options "
            "keep more pairs."
        )

    def advice(self, most_shards: int) -> str | None:
        """Advice on the number of shards, if another one, of at most `most_shards`, would be better."""
        mean = self.kept // len(self.pairs_by_shard)
        better = min(max(1, round(self.kept / _GOOD_PAIRS)), most_shards)
        if mean > _MOST_PAIRS and better > len(self.pairs_by_shard):
            return f"The shards are large, and a training holds two or three in memory. --shards {better} is better."
        if mean < _FEWEST_PAIRS and better < len(self.pairs_by_shard):
            return f"The shards are small, so many batches will be incomplete. --shards {better} is better."
        return None


def _example(place: str, source: str, target: str) -> str:
    return f"{place}: {_shown(source)} | {_shown(target)}"


def _shown(text: str) -> str:
    """A text on one line and without characters that change the terminal."""
    return cut("".join(character if character.isprintable() else "\ufffd" for character in text), _SHOWN_CHARS)
